import { beforeAll, describe, expect, it } from '@jest/globals'
import { optionalFields, requiredFields } from '../../src/leads/lead-fields.ts'
import { type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'

const PHONE = 'may contain only digits, hyphens, spaces and +, but it has '

describe('the message for a mistake', () => {
  let api: Api
  let partner: ApiPartner
  beforeAll(async () => {
    api = await prepareApi()
    partner = await api.addPartner()
  })

  const messageOf = async (path: string, body: unknown) => {
    const answer = await partner.post(path, body)
    expect(answer.status).toBe(400)
    return answer.body.error.message as string
  }

  it.each<[string, object, string]>([
    ['list-events', { cursor: '1-2-3-4' }, 'cursor is not a field (use after, limit, wait, webhooks)'],
    ['get-deliveries', { state: 'held' }, 'state is not a field (use '],
    [
      'list-leads',
      { before: 7 },
      'before is not a field (use limit, after, status, partner_lead_id, partner_lead_id_prefix, closed, delivery)',
    ],
    ['resend-webhook', { eventId: 'evt_1' }, 'event_id is required; eventId is not a field (use '],
    ['get-endpoint', { verbose: true }, 'verbose is not a field (send an empty object)'],
    ['sandbox/get-clock', { id: 1 }, 'lead_id is required; id is not a field (use lead_id)'],
    [
      'sandbox/simulate-event',
      { lead_id: 1, events: [{ event: 'contract_signed' }] },
      'events[0].event_name is required: it must be one of',
    ],
    [
      'sandbox/simulate-event',
      { lead_id: 1, events: [{ event_name: 'contract_signed', payload: 1 }] },
      'events[0].payload is not a field (use event_name, event_payload',
    ],
    ['get-deliveries', { states: ['failed'] }, 'states[0] must be one of pending,'],
    ['list-leads', { status: 'closed' }, 'status must be one of lead_received,'],
  ])('%s %j', async (path, body, message) => {
    expect(await messageOf(path, body)).toContain(`Invalid request: ${message}`)
  })

  it.each<[string, object, string]>([
    ['create-lead', { ...borrower, last_name: '' }, 'last_name must not be empty'],
    [
      'create-lead',
      { ...borrower, first_name: '\u200b\u0000' },
      'first_name must not contain control characters, but it has U+0000',
    ],
    ['create-lead', { ...borrower, phone: '(310) 555-1212' }, `phone ${PHONE}"(" (U+0028)`],
    ['create-lead', { ...borrower, phone: '310.555.1212' }, `phone ${PHONE}"." (U+002E)`],
    ['create-lead', { ...borrower, phone: '310\u00a05551212' }, `phone ${PHONE}U+00A0`],
    ['create-lead', { ...borrower, phone: '310\u20115551212' }, `phone ${PHONE}"\u2011" (U+2011)`],
    ['create-lead', { ...borrower, phone: '٣١٠' }, `phone ${PHONE}"٣" (U+0663)`],
    [
      'create-lead',
      { ...borrower, email: 'zoë@example.com' },
      'email must have ASCII characters only, but it has "ë" (U+00EB)',
    ],
    ['get-lead', { lead_id: '12' }, 'lead_id must be a number without quotes'],
    ['list-leads', { limit: '12' }, 'limit must be a number without quotes'],
    ['list-leads', { after: '12' }, 'after must be a number without quotes'],
    ['sandbox/advance-clock', { lead_id: 1, days: '12' }, 'days must be a number without quotes'],
    ['list-leads', { closed: 'true' }, 'closed must be true or false, without quotes'],
    ['get-deliveries', { states: 'pending or held' }, 'states must be a list'],
    ['get-deliveries', { states: Array(7).fill('x') }, 'states must have at most 5 states'],
    ['get-deliveries', { states: [] }, 'states must not be empty'],
    ['get-deliveries', { after: 'x' }, 'after must be the next of an earlier response'],
    ['list-leads', { limit: 101 }, 'limit must be at most 100'],
    ['list-leads', { after: 'x' }, 'after must be the next of an earlier response'],
    ['list-leads', { delivery: 'ok' }, 'delivery must be one of failing, held'],
    [
      'update-partner-info',
      { lead_id: 1, email: 7 },
      'email identifies the borrower and cannot be changed with this call: ask us to correct it',
    ],
    [
      'update-partner-info',
      { lead_id: 1, status: 'closed' },
      'status is set by the service only: send your value under another name',
    ],
  ])('%s %j, once for each field', async (path, body, message) => {
    expect(await messageOf(path, body)).toBe(`Invalid request: ${message}.`)
  })

  it.each<[string, object, string]>([
    [
      'create-lead',
      { ...borrower, first_name: undefined, firstName: 'Ada' },
      `first_name is required; firstName is not a field (use ${[...requiredFields, ...optionalFields].join(', ')}).`,
    ],
    [
      'get-lead',
      { partner_lead_id: 'LOAN-1' },
      'lead_id is required; partner_lead_id is not a field (use lead_id).',
    ],
    ['get-events', { id: 1 }, 'lead_id is required; id is not a field (use lead_id).'],
  ])('%s %j, where unknown fields are ignored', async (path, body, message) => {
    expect(await messageOf(path, body)).toBe(`Invalid request: ${message}`)
  })

  it.each(['{"lead_id": 1,\n "x": }', '{"lead_id": 1', 'lead_id=1'])(
    'a body that is no JSON: %j',
    async (text) => {
      const { status, body } = await partner.post('get-lead', text)
      expect([status, body.error.message]).toEqual([400, 'The request body is not valid JSON.'])
    },
  )

  it.each([
    ['GET', '/v1/get-lead', 'Use POST.'],
    ['POST', '/v1/ping', 'Use GET.'],
  ])('%s %s', async (method, url, hint) => {
    const { status, body } = await partner.send({ method, url })
    expect([status, body.error.message]).toEqual([405, `This path does not support ${method}. ${hint}`])
  })
})
