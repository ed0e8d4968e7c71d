import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { replay } from '../../src/deliveries/staff.ts'
import { createEndpointStarter } from '../../src/endpoints/endpoint-workflows.ts'
import { addSecret, signWith } from '../../src/endpoints/secrets.ts'
import { sealing } from '../../src/seal.ts'
import { generateSecret } from '../../src/webhooks/signature.ts'
import type { Delivery } from '../../src/clients/typescript/src/index.ts'
import type { Sql } from '../../src/database/sql.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { contextOf } from '../staff/context.ts'
import { endpointOf, putEndpoints } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

describe('what get-deliveries shows of an attempt', () => {
  let service: SharedService
  let context: StaffContext
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  let endpoint: ReturnType<typeof endpointOf>

  beforeAll(async () => {
    service = await sharedService()
    context = await contextOf(service.environment)
  }, 60_000)

  beforeEach(async () => {
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    endpoint = endpointOf(service, partner)
  })

  const deliveriesOf = async (body: object) => {
    const answer = await partnerCalls(service.port, partner.key).post('get-deliveries', body)
    return answer.body.data as unknown as Delivery[]
  }
  const deliveryOf = async (body: object) => {
    const data = await deliveriesOf(body)
    expect(data).toHaveLength(1)
    return data[0]!
  }
  /** Waits until the event has so many attempts that have ended. */
  const shown = (event_id: string, attempts: number) =>
    until(async () => {
      const delivery = await deliveryOf({ event_id })
      const ended = delivery.attempts.filter(({ duration_ms: ms }) => ms !== null)
      return ended.length === attempts && delivery
    })
  const firstEvent = async (leadId: number) => (await deliveryOf({ lead_id: leadId })).event_id

  async function changeSecret(
    change: (trx: Sql, id: number, secret: ReturnType<typeof sealing>) => Promise<void>,
  ) {
    partner.endpoint.secret = generateSecret()
    const sealed = sealing(partner.endpoint.secret, service.encryptionKeys)
    await service.sql.transaction().execute((trx) => change(trx, partner.id, sealed))
  }

  it('is the answer of the endpoint: status, duration and headers in a list, the body with its event', async () => {
    partner.endpoint.answer = (_, response) =>
      void response
        .writeHead(503, { 'retry-after': '77', 'x-reason': 'migration', 'set-cookie': 'session=1' })
        .end('{"error":"ledger is read-only","email":"ada@example.com"}')
    const leadId = await leads.start()
    await partner.endpoint.until((arrivals) => arrivals.length === 1)
    const { attempts } = await shown(await firstEvent(leadId), 1)
    expect(attempts).toMatchObject([
      {
        trigger: 'scheduled',
        status: 503,
        error_code: 'http_error',
        duration_ms: expect.any(Number),
        response_headers: { 'retry-after': '77', 'x-reason': 'migration' },
        response_body: '{"error":"ledger is read-only","email":"ada@example.com"}',
      },
    ])
    expect(attempts[0]?.response_headers).not.toHaveProperty('set-cookie')
    const listed = await deliveryOf({ lead_id: leadId })
    expect(listed.attempts).toMatchObject([{ status: 503, response_headers: { 'x-reason': 'migration' } }])
    expect(listed.attempts[0]).not.toHaveProperty('response_body')
  })

  it('is the signature that was sent, byte for byte, for each trigger and across changes of the secret', async () => {
    // so that no retry comes before the resend
    partner.endpoint.answer = (_, response) =>
      void response.writeHead(500, { 'retry-after': '600' }).end('not now')
    const leadId = await leads.start()
    const eventId = await until(async () => (await deliveriesOf({ lead_id: leadId }))[0]?.event_id ?? false)
    await shown(eventId, 1)
    // no attempts but the resends
    const next_attempt_at = new Date(Date.now() + 86_400_000)
    await service.sql
      .updateTable('deliveries')
      .set({ next_attempt_at })
      .where('lead_id', '=', leadId)
      .execute()
    const { post } = partnerCalls(service.port, partner.key)

    await changeSecret(async (trx, of, secret) =>
      signWith(trx, of, await addSecret(trx, of, secret), 3_600_000),
    )
    await post('resend-webhook', { event_id: eventId })
    await shown(eventId, 2)

    await putEndpoints(service.sql, 'paused', { partnerId: partner.id, by: 'service' })
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end('taken')
    await createEndpointStarter(service.client)(partner.id)
    await endpoint.workflow.signal('probe')
    await endpoint.is('active')
    await shown(eventId, 3)

    await changeSecret(async (trx, of, secret) => signWith(trx, of, await addSecret(trx, of, secret)))
    await replay(context, { partner: partner.id, state: 'all' })
    const { attempts } = await shown(eventId, 4)

    expect(attempts.map(({ trigger }) => trigger)).toEqual(['scheduled', 'resend', 'probe', 'replay'])
    expect(attempts.map(({ request_headers: headers }) => headers)).toEqual(
      leads.arrivals(leadId).map(({ id: webhookId, timestamp, signature }) => ({
        'webhook-id': webhookId,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signature,
      })),
    )
  })
})
