import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { milestoneNames } from '../../src/leads/milestones.ts'
import { formatTimestamp } from '../../src/values.ts'
import { type WebhookEvent, webhookBody } from '../../src/webhooks/body.ts'

const event = {
  eventId: 'evt_01912345-6789-7abc-8def-0123456789ab',
  eventName: 'lead_received',
  eventPayload: { partner_lead_id: 'CRM-7' },
  createdAt: new Date('2026-03-01T23:59:59.999Z'),
  leadId: 12,
  partnerLeadId: 'CRM-7',
  sequence: 1,
  environment: 'sandbox',
} as const

describe('the body of a webhook', () => {
  test('is the Standard Webhooks envelope around the event, keys in the documented order', () => {
    expect(webhookBody(event)).toBe(
      '{"type":"lead_received","timestamp":"2026-03-01T23:59:59Z","data":{' +
        '"event_id":"evt_01912345-6789-7abc-8def-0123456789ab","event_name":"lead_received",' +
        '"event_payload":{"partner_lead_id":"CRM-7"},"created_at":"2026-03-01 23:59:59","lead_id":12,' +
        '"partner_lead_id":"CRM-7","sequence":1,"environment":"sandbox"}}',
    )
  })

  test('always names partner_lead_id and event_payload, null when there is none', () => {
    const { data } = parsed({ ...event, eventPayload: null, partnerLeadId: null })
    expect(data).toMatchObject({ event_payload: null, partner_lead_id: null })
  })

  test('gives every field back, whatever text a partner chose as its id', () => {
    const anyEvent = fc.record({
      eventId: fc.uuid({ version: 7 }).map((id) => `evt_${id}`),
      eventName: fc.constantFrom(...milestoneNames),
      partnerLeadId: fc.option(fc.string({ unit: 'binary' })),
      leadId: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      sequence: fc.integer({ min: 1 }),
      environment: fc.constantFrom('sandbox', 'production'),
      createdAt: fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }),
    })
    fc.assert(
      fc.property(anyEvent, ({ partnerLeadId, ...rest }) => {
        const eventPayload = partnerLeadId === null ? null : { partner_lead_id: partnerLeadId }
        const { type, timestamp, data } = parsed({ ...rest, partnerLeadId, eventPayload })
        expect(type).toBe(rest.eventName)
        expect(new Date(timestamp).getTime()).toBe(Math.floor(rest.createdAt.getTime() / 1000) * 1000)
        expect(data).toEqual({
          event_id: rest.eventId,
          event_name: rest.eventName,
          event_payload: eventPayload,
          created_at: formatTimestamp(rest.createdAt),
          lead_id: rest.leadId,
          partner_lead_id: partnerLeadId,
          sequence: rest.sequence,
          environment: rest.environment,
        })
      }),
    )
  })
})

function parsed(webhook: WebhookEvent) {
  return JSON.parse(webhookBody(webhook)) as { type: string; timestamp: string; data: object }
}
