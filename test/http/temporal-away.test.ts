import { beforeAll, describe, expect, it } from '@jest/globals'
import { anyPort } from '../support/any-port.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { LEAD } from '../support/leads.ts'
import { prepareService, type Service } from '../support/service.ts'

/** Longer than any of them may take. */
const LIMIT_MS = 15_000

describe('an API whose Temporal is away', () => {
  let service: Service
  let lead: number
  let eventId: string
  let post: (path: string, body: object) => Promise<{ response: Response; body: Answer }>

  interface Answer {
    lead_id: number
    error?: { code: string }
    data?: { moving?: boolean }
  }

  beforeAll(async () => {
    service = await prepareService()
    const { port } = await service.startApi({ TEMPORAL_ADDRESS: `127.0.0.1:${await anyPort()}` })
    const { id, key } = await service.addPartner()
    post = async (path, body) => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Service-Key ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { response, body: (await response.json()) as Answer }
    }
    lead = (await post('create-lead', LEAD)).body.lead_id
    ;[eventId = ''] = await fillDeliveries(service.sql, id, 1, 'delivered')
  }, 60_000)

  const openOf = () =>
    service.sql
      .selectFrom('deliveries')
      .select('event_id')
      .where('lead_id', '=', lead)
      .executeTakeFirstOrThrow()
  /** All but the audit, which says who asked for what, and the marks by which a repeat finds what is to be sent again. */
  const rows = async () => {
    const { sql } = service
    const [leads, deliveries] = await Promise.all([
      sql.selectFrom('leads').selectAll().orderBy('id').execute(),
      sql.selectFrom('deliveries').selectAll().orderBy('event_id').execute(),
    ])
    return { leads, deliveries: deliveries.map(({ asked: _, ...delivery }) => delivery) }
  }

  it('answers 503 with Retry-After, in time, to what needs Temporal, and leaves nothing of it', async () => {
    const before = await rows()
    const { event_id: open } = await openOf()
    const calls: [string, object][] = [
      ['close-lead', { lead_id: lead, reason: 'withdrew' }],
      ['resend-webhook', { event_id: open }],
      ['resend-webhook', { event_id: eventId }],
      ['sandbox/simulate-event', { lead_id: lead, event_name: 'contract_signed' }],
      ['sandbox/advance-clock', { lead_id: lead, days: 1 }],
      ['sandbox/run-scenario', { lead_id: lead, scenario: 'dropped_out' }],
      ['sandbox/run-scenario', { scenario: 'dropped_out' }],
    ]
    const began = performance.now()
    const answers = await Promise.all(calls.map(([path, body]) => post(path, body)))
    expect(performance.now() - began).toBeLessThan(LIMIT_MS)
    expect(
      answers.map(({ response, body }, index) => [
        calls[index]?.[0],
        response.status,
        Number(response.headers.get('retry-after')) > 0,
        body.error?.code,
      ]),
    ).toEqual(calls.map(([path]) => [path, 503, true, 'SERVICE_UNAVAILABLE']))
    expect(await rows()).toEqual(before)
  }, 60_000)

  it('creates, reads, updates and erases leads', async () => {
    const { body } = await post('create-lead', LEAD)
    const calls: [string, object][] = [
      ['get-lead', { lead_id: lead }],
      ['get-events', { lead_id: lead }],
      ['list-leads', {}],
      ['list-events', {}],
      ['get-deliveries', { lead_id: lead }],
      ['sandbox/get-clock', { lead_id: lead }],
      ['update-partner-info', { lead_id: lead, property_state: 'TX' }],
      ['erase-lead', { lead_id: body.lead_id }],
    ]
    const answers = await Promise.all(calls.map(([path, sent]) => post(path, sent)))
    expect(answers.map(({ response }, index) => [calls[index]?.[0], response.status])).toEqual(
      calls.map(([path]) => [path, 200]),
    )
  }, 60_000)
})
