import { beforeAll, describe, expect, it, test } from '@jest/globals'
import express from 'express'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool, type PoolClient } from 'pg'
import { type Delivery, type LeadEvent, Referrals, timeOf } from '../../src/clients/typescript/src/index.ts'
import { randomOf } from '../chaos/random.ts'
import { atEnd } from '../support/at-end.ts'
import { freshDatabase } from '../support/database.ts'
import { preload } from '../support/processes.ts'
import { sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { startBadNetwork } from './bad-network.ts'
import { HANDLED, playGuideLender } from './guide-lender.ts'
import { seenOfReadme } from './seen.ts'

const LEAD = { first_name: 'Ada', last_name: 'Miller', email: 'ada@example.com', phone: '555-0100' }
const LEADS = 5
const JOURNEY = [
  'client_account_created',
  'credit_scan_completed',
  'contract_signed',
  'escrow_funded',
  'score_update',
  'mortgage_ready',
] as const
const WEBHOOKS_EACH = JOURNEY.length + 1
/** The faults in which the proxy does not answer itself: its status would delay the next attempt. */
const KINDS = ['refused', 'lost', 'cut', 'late', 'repeated'] as const

test('the lender of integrate.md handles each event of a journey once and in order', async () => {
  const client = import.meta.resolve('../../src/clients/typescript/src/index.ts')
  const handled = await playGuideLender({
    language: 'ts',
    command: process.execPath,
    args: preload,
    edit: (program) => program.replace('partner-referrals', client),
  })
  expect(handled).toEqual(HANDLED)
}, 60_000)

describe('a receiver in a bad network', () => {
  let origin: string
  let key: string
  let pool: Pool

  beforeAll(async () => {
    const service = await sharedService()
    origin = `http://127.0.0.1:${service.port}`
    ;({ key } = await service.addPartner())
    const database = await freshDatabase()
    pool = new Pool({ connectionString: database.url })
    // its end does not wait for its connections, which the database then ends
    pool.on('error', () => {})
    atEnd(async () => {
      await pool.end()
      await database.drop()
    })
    await pool.query('create table webhooks_seen (id text primary key)')
    await pool.query('create table handled (place serial, id text, lead_id int, sequence int)')
  }, 60_000)

  it('handles each webhook once and each lead’s in order, though answers are lost and handlers fail half way', async () => {
    const random = randomOf(3, 'handlers')
    const came: string[] = []
    const failed: string[] = []
    const handle = async ({ data }: LeadEvent, client: PoolClient) => {
      const row = [data.event_id, data.lead_id, data.sequence]
      await client.query('insert into handled (id, lead_id, sequence) values ($1, $2, $3)', row)
      if (!random.chance(0.2)) return
      failed.push(data.event_id)
      throw new Error('it fails half way')
    }
    const clientWith = (webhookSecrets?: string) =>
      new Referrals({ apiKey: key, baseUrl: `${origin}/v1`, webhookSecrets })
    const client = clientWith()
    const app = express()
    const receiver = await listen(app)
    const network = await startBadNetwork(receiver, { seed: 3, share: 0, lateMs: 300, kinds: KINDS })
    const { secret } = (await client.setEndpoint({ url: `${network.url}/webhooks` })).data
    const { webhooks } = clientWith(secret)
    const options = { seen: seenOfReadme<PoolClient>('PoolClient', pool), onEvent: handle, onError: () => {} }
    app.use((request, _response, next) => {
      came.push(String(request.headers['webhook-id']))
      next()
    })
    // as two processes
    const [one, other] = [webhooks.node(options), webhooks.node(options)]
    app.post('/webhooks', (...args) => (came.length % 2 === 0 ? one : other)(args[0], args[1]))
    const { certification } = await client.certify()
    expect(certification?.state).toBe('passed')

    network.setShare(0.35)
    const leadIds = await Promise.all(
      Array.from({ length: LEADS }, async () => {
        const { lead_id } = await client.createLead(LEAD)
        await client.simulateEvent({ lead_id, events: JOURNEY.map((name) => ({ event_name: name })) })
        return lead_id
      }),
    )
    await until(async () => {
      const open: Delivery[] = []
      for await (const each of client.deliveries({ states: ['pending', 'held'] })) open.push(each)
      // sooner than the schedule
      const waiting = open.filter(({ next_attempt_at: next }) => next !== null && timeOf(next) > new Date())
      await Promise.all(waiting.map(({ event_id }) => client.resendWebhook({ event_id })))
      return open.length === 0
    })
    const { rows } = await pool.query<{ lead_id: number; sequence: number }>(
      'select lead_id, sequence from handled order by place',
    )
    const handled = leadIds.map((leadId) =>
      rows.filter((row) => row.lead_id === leadId).map(({ sequence }) => sequence),
    )
    const inOrder = Array.from({ length: WEBHOOKS_EACH }, (_, index) => index + 1)
    expect(handled).toEqual(Array.from({ length: LEADS }, () => inOrder))
    // there was something to withstand
    expect(failed.length).toBeGreaterThan(0)
    expect(came.length).toBeGreaterThan(LEADS * WEBHOOKS_EACH)
    expect(network.count.lost + network.count.cut + network.count.repeated).toBeGreaterThan(0)
  }, 60_000)
})

async function listen(app: express.Express): Promise<string> {
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
