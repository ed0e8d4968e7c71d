import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { type WebhookFacts, webhookBody } from '../../src/webhooks/body.ts'

const event = {
  eventId: 'evt_01912345-6789-7abc-8def-0123456789ab',
  eventName: 'lead_received',
  eventPayload: { partner_lead_id: 'CRM-7' },
  createdAt: new Date('2026-03-01T23:59:59.999Z'),
  leadId: 12,
  partnerLeadId: 'CRM-7',
  sequence: 1,
} as const

describe('the body of a webhook', () => {
  test('is the Standard Webhooks envelope around the event, keys in the documented order', () => {
    expect(webhookBody('sandbox')(event)).toBe(
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

  test('gives back whatever text a partner chose as its id', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (partnerLeadId) => {
        const { data } = parsed({ ...event, partnerLeadId })
        expect(data).toMatchObject({ partner_lead_id: partnerLeadId })
      }),
    )
  })
})

function parsed(webhook: WebhookFacts) {
  return JSON.parse(webhookBody('sandbox')(webhook)) as { data: object }
}
