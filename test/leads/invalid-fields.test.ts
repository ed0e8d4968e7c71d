import { beforeAll, describe, expect, it } from '@jest/globals'
import { type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'
import { postRoutes } from '../http/openapi-document.ts'

describe('error.fields of INVALID_PAYLOAD', () => {
  let api: Api
  let partner: ApiPartner
  beforeAll(async () => {
    api = await prepareApi()
    partner = await api.addPartner()
  })

  const refusalOf = async (path: string, body: unknown, headers = {}) => {
    const answer = await partner.post(path, body, headers)
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
    return answer.body.error as { message: string; fields: { field: string; problem: string }[] }
  }
  const named = async (path: string, body: unknown, headers = {}) =>
    (await refusalOf(path, body, headers)).fields.map(({ field }) => field)

  it('says what each field must be, in the words of the message', async () => {
    expect(await refusalOf('create-lead', { ...borrower, email: 'ada', phone: undefined, notes: 7 })).toEqual(
      {
        code: 'INVALID_PAYLOAD',
        message:
          'Invalid request: email must be a valid email address; phone is required; notes must be a string.',
        fields: [
          { field: 'email', problem: 'must be a valid email address' },
          { field: 'phone', problem: 'is required' },
          { field: 'notes', problem: 'must be a string' },
        ],
      },
    )
  })

  it('gives the path of a field in a list or an object', async () => {
    const gains = { experian_gain: 9.5, equifax_gain: 1, transunion_gain: 551 }
    const update = { lead_id: 1, event_name: 'score_update', event_payload: gains }
    expect((await refusalOf('sandbox/simulate-event', update)).fields).toEqual([
      { field: 'event_payload.experian_gain', problem: 'must be an integer from -550 to 550' },
      { field: 'event_payload.transunion_gain', problem: 'must be an integer from -550 to 550' },
      {
        field: 'event_payload.estimated_time_remaining',
        problem: 'must be such as "30-60 days", the lower number first',
      },
    ])
    const events = [
      { event_name: 'contract_signed', payload: 1 },
      { event_name: 'score_update', event_payload: { a: 1 } },
    ]
    expect(await named('sandbox/simulate-event', { lead_id: 1, events })).toEqual([
      'events[0].payload',
      'events[1].event_payload.experian_gain',
      'events[1].event_payload.equifax_gain',
      'events[1].event_payload.transunion_gain',
      'events[1].event_payload.estimated_time_remaining',
      'events[1].event_payload.a',
    ])
    expect(await named('get-deliveries', { states: ['pending', 'lost'] })).toEqual(['states[1]'])
  })

  it('names fields that the call does not have as far as the message does', async () => {
    expect((await refusalOf('list-events', { wiat: 1, cursor: 'x' })).fields).toEqual([
      { field: 'wiat', problem: 'is not a field (use after, limit, wait, webhooks)' },
      { field: 'cursor', problem: 'is not a field (use after, limit, wait, webhooks)' },
    ])
    // fields that this call ignores are in the message only
    expect(await named('get-lead', { id: 1 })).toEqual(['lead_id'])
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`their\u0000${index}`, 1]))
    const { message, fields } = await refusalOf('list-leads', many)
    expect(fields.map(({ field }) => field)).toEqual(
      Array.from({ length: 50 }, (_, index) => `their?${index}`),
    )
    expect(message.match(/their\?/g)).toHaveLength(50)
  })

  it.each<[string, string, object, string[]]>([
    ['the first of two fields', 'sandbox/simulate-event', { lead_id: 1 }, ['event_name']],
    ['a URL', 'set-endpoint', { url: 'ftp://lender.example' }, ['url']],
    ['a cursor', 'list-events', { after: '1-1-1-1' }, ['after']],
    ['a field of the lead', 'update-partner-info', { lead_id: 1, status: 'x' }, ['status']],
    ['a name without characters', 'update-partner-info', { lead_id: 1, '': 'x' }, ['""']],
  ])('names %s that a route refuses by itself: %s', async (_, path, body, fields) => {
    expect(await named(path, body)).toEqual(fields)
  })

  it.each(postRoutes)('never holds a value: $path', async ({ path, fields }) => {
    const SENT = 'Zoë Quill, born 1 Jan 1980'
    const AS_NAME = `${SENT} as a name`
    const wrong = [SENT, [SENT], { [AS_NAME]: SENT }, -1.5, true]
    for (const value of wrong) {
      const body = Object.fromEntries(fields.map((field) => [field, value]))
      const { status, body: answer } = await partner.post(path, body)
      if (status !== 400) continue
      for (const { field, problem } of answer.error.fields) {
        expect(fields).toContain(/^\w+/.exec(field)?.[0])
        // a name that is made up, not a value
        expect(field.replace(AS_NAME, '')).not.toContain(SENT)
        expect(problem).not.toContain(SENT)
      }
    }
  })
})
