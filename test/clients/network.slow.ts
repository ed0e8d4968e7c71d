import { beforeAll, describe, expect, it } from '@jest/globals'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { methods } from '../../src/clients/typescript/methods.ts'
import {
  ApiError,
  ClockMovingError,
  NoAnswerError,
  Referrals,
  Webhooks,
} from '../../src/clients/typescript/src/index.ts'
import { atEnd } from '../support/at-end.ts'
import { sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { startBadNetwork } from './bad-network.ts'

const LEAD = { firstName: 'Ada', lastName: 'Miller', email: 'ada@example.com', phone: '555-0100' }
const LEADS = 40
/** Half of all requests meet a fault. */
const NETWORK = { share: 0.5, lateMs: 3_300 }
const PATIENCE = { timeoutMs: 3_000, deadlineMs: 60_000 }

describe('a client in a bad network', () => {
  let origin: string
  let key: string

  beforeAll(async () => {
    const service = await sharedService()
    origin = `http://127.0.0.1:${service.port}`
    ;({ key } = await service.addPartner())
  }, 60_000)

  async function scene(seed: number) {
    const network = await startBadNetwork(origin, { ...NETWORK, seed })
    const through = (url: string, options: object = PATIENCE) =>
      new Referrals({ apiKey: key, baseUrl: `${url}/v1`, ...options })
    // for what takes seconds
    const patient = through(network.url, {})
    return { network, client: through(network.url), patient, direct: through(origin) }
  }

  it('creates each lead once, with the caller’s key, also after a crash of the caller, and with its own', async () => {
    const { network, client, direct } = await scene(1)
    const create = (index: number) => {
      const options = index % 2 === 0 ? { idempotencyKey: `once-${index}` } : {}
      return client.leads.create({ ...LEAD, partnerLeadId: `once-${index}` }, options)
    }
    const created = await Promise.all(Array.from({ length: LEADS }, (_, index) => create(index)))
    const { leadId } = await create(0)
    expect(leadId).toBe(created[0]?.leadId)
    const all = await direct.leads.list().all()
    const made = all.filter(({ partnerLeadId }) => partnerLeadId?.startsWith('once-'))
    expect(made).toHaveLength(LEADS)
    expect(new Set(made.map((lead) => lead.leadId))).toEqual(new Set(created.map((lead) => lead.leadId)))
    // each fault had its turn
    expect(Object.values(network.count)).not.toContain(0)
  }, 90_000)

  it('makes every call', async () => {
    const { client, patient } = await scene(2)
    const { leads, deliveries, endpoint, events, requests, sandbox } = client
    const [read, closed, erased] = await Promise.all(
      ['read', 'closed', 'erased'].map((name) => leads.create({ ...LEAD, partnerLeadId: name })),
    ).then((all) => all.map((lead) => lead.leadId))
    const made = new Map<string, Promise<unknown>>()
    const make = <Answer>(method: string, answer: Promise<Answer>) => {
      made.set(method, answer)
      return answer
    }

    const secrets: string[] = []

    async function certifying() {
      const { secret } = await make('endpoint.set', endpoint.set({ url: await startReceiver(secrets) }))
      secrets.push(secret)
      const { url, certification } = await make('endpoint.certify', endpoint.certify({ wait: true }))
      expect(certification).toMatchObject({ url, state: 'passed' })
      await make(
        'endpoint.test',
        again(() => endpoint.test()),
      )
      await make('endpoint.rotateSecret', endpoint.rotateSecret()).then((rotated) =>
        secrets.push(rotated.secret),
      )
      await expect(make('endpoint.pause', endpoint.pause())).resolves.toMatchObject({ health: 'paused' })
      await make('endpoint.resume', endpoint.resume())
      await expect(make('endpoint.get', endpoint.get())).resolves.toMatchObject({ url })
      await make('sandbox.useSink', sandbox.useSink())
      await make('sandbox.setSink', sandbox.setSink({ status: 503, times: 1 }))
      await expect(make('sandbox.sink', sandbox.sink())).resolves.toMatchObject({
        url: expect.stringContaining('/sandbox/sinks/'),
      })
    }
    async function reading(leadId: number) {
      await make('leads.update', leads.update(leadId, { branch: 'Oakland' }))
      await expect(make('leads.get', leads.get(leadId))).resolves.toMatchObject({ branch: 'Oakland' })
      const { events: simulated } = await make(
        'sandbox.simulate',
        sandbox.simulate(leadId, { events: [{ eventName: 'score_update' }, { eventName: 'score_update' }] }),
      )
      expect(simulated).toHaveLength(2)
      const history = await make('leads.history', leads.history(leadId))
      expect(history.map(({ eventName }) => eventName)).toEqual([
        'lead_received',
        'score_update',
        'score_update',
      ])
      await make(
        'sandbox.advanceClock',
        again(async () => {
          // an attempt whose answer was lost may still be moving it
          await until(async () => !(await sandbox.clock(leadId)).moving)
          return patient.sandbox.advanceClock(leadId, { days: 1 })
        }),
      )
      const { offsetSeconds } = await make('sandbox.clock', sandbox.clock(leadId))
      expect(offsetSeconds).toBeGreaterThanOrEqual(24 * 3600)
      const [delivery] = await make('deliveries.list', deliveries.list({ leadId }).all())
      await make('deliveries.resend', deliveries.resend(delivery?.eventId ?? ''))
      await make('leads.export', leads.export(leadId))
    }

    await Promise.all([
      certifying(),
      reading(read ?? 0),
      make('ping', client.ping()),
      make('leads.keepOpen', leads.keepOpen(closed ?? 0)).then(() =>
        make('leads.close', leads.close(closed ?? 0, 'withdrew')),
      ),
      make('leads.closing', leads.closing(read ?? 0)),
      make('leads.erase', leads.erase(erased ?? 0)),
      make('leads.list', leads.list().all()),
      make('leads.create', leads.create(LEAD)),
      make('events.page', events.page()),
      make('requests.list', requests.list().all()),
      make('sandbox.scenarios', sandbox.scenarios()),
      make(
        'sandbox.runScenario',
        again(() => patient.sandbox.runScenario({ scenario: 'chatty_borrower' })),
      ),
    ])
    expect([...made.keys()]).toEqual(expect.arrayContaining(Object.values(methods)))
    expect((await Promise.allSettled(made.values())).map(({ status }) => status)).toEqual(
      Array.from(made, () => 'fulfilled'),
    )
  }, 90_000)
})

/** With the secrets of the moment. */
async function startReceiver(secrets: readonly string[]): Promise<string> {
  const server = createServer((...args) => {
    const handle = new Webhooks({ secrets }).node({ on: {} }) as unknown as RequestListener
    handle(...args)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
}

/** What is not repeated by itself: here, twice is as good as once. */
async function again<Answer>(ask: () => Promise<Answer>, left = 5): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    const isOpen =
      error instanceof NoAnswerError ||
      error instanceof ClockMovingError ||
      (error instanceof ApiError && error.status >= 500)
    if (!isOpen || left === 0) throw error
    return again(ask, left - 1)
  }
}
