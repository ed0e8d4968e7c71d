import { beforeAll, describe, expect, it } from '@jest/globals'
import { type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'

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
    [
      'list-events',
      { Limit: 1, wiat: 2 },
      'Limit is not a field (use after, limit, wait, webhooks); wiat is not a field (use after, limit, wait, webhooks)',
    ],
    ['resend-webhook', { eventId: 'evt_1' }, 'event_id is required; eventId is not a field (use event_id)'],
    ['get-endpoint', { verbose: true }, 'verbose is not a field (send an empty object)'],
    ['get-lead', { partner_lead_id: 'LOAN-1' }, 'lead_id is required'],
    ['create-lead', { ...borrower, last_name: '' }, 'last_name must not be empty'],
    [
      'create-lead',
      { ...borrower, first_name: '\u200b\u0000', phone: '٣١٠' },
      'first_name must not contain control characters; phone may contain only digits, hyphens, spaces and +',
    ],
    ['list-leads', { limit: '12' }, 'limit must be an integer'],
    ['get-deliveries', { states: 'pending or held' }, 'states must be a list'],
    ['get-deliveries', { states: Array(7).fill('x') }, 'states must have at most 5 states'],
    [
      'update-partner-info',
      { lead_id: 1, email: 7 },
      'email identifies the borrower and cannot be changed with this call: ask us to correct it',
    ],
    [
      'update-partner-info',
      { lead_id: 1, status: 'closed' },
      'status is kept by the service and cannot be set: for a value of yours, take another name',
    ],
  ])('%s %j, once for each field', async (path, body, message) => {
    expect(await messageOf(path, body)).toBe(`Invalid request: ${message}.`)
  })

  it('names the place of a field in a list', async () => {
    const event = { event: 'contract_signed' }
    expect(await messageOf('sandbox/simulate-event', { lead_id: 1, events: [event] })).toMatch(
      /^Invalid request: events\[0\]\.event_name is required: it must be one of .*; events\[0\]\.event is not a field/,
    )
  })

  it('names at most 50 unknown fields, without what cannot be seen, and no value', async () => {
    const unknown = Object.fromEntries(
      Array.from({ length: 70 }, (_, index) => [`secret\u0000${index}`, 'value']),
    )
    const message = await messageOf('get-endpoint', unknown)
    expect(message.match(/secret\?\d+ is not a field/g)).toHaveLength(50)
    expect(message).not.toContain('value')
  })

  it.each(['{"lead_id": 1,\n "x": }', '{"lead_id": 1', 'lead_id=1'])(
    'a body that is no JSON: %j',
    async (text) => {
      const { status, body } = await partner.post('get-lead', text)
      expect([status, body.error.message]).toEqual([400, 'The request body is not valid JSON.'])
    },
  )

  it('a lead that is closed, which the error names', async () => {
    const leadId = await partner.createLead()
    await partner.post('close-lead', { lead_id: leadId, reason: 'withdrew' })
    const playing = { lead_id: leadId, scenario: 'dropped_out' }
    const { status, body } = await partner.post('sandbox/run-scenario', playing)
    expect([status, body.error.code, body.error.lead_id]).toEqual([409, 'LEAD_CLOSED', leadId])
  })

  it.each([
    ['GET', '/v1/get-lead', 'Use POST.'],
    ['POST', '/v1/ping', 'Use GET.'],
  ])('%s %s', async (method, url, hint) => {
    const { status, body } = await partner.send({ method, url })
    expect([status, body.error.message]).toEqual([405, `This path does not support ${method}. ${hint}`])
  })
})
