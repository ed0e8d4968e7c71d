import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { Client } from '@temporalio/client'
import { createReferrals } from '../../src/core/leads/workflows/referrals.ts'
import { ensureSearchAttributes } from '../../src/core/temporal/search-attributes.ts'
import { leadsOf } from '../support/leads.ts'
import { registerNamespace } from '../support/namespace.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { holdRow } from '../support/row-lock.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'
import { hasCompared } from '../support/compared.ts'

const WAITING = 10
const OTHERS = 20
/** Whoever waited for the lock, or for the connections of those who do, would take the lock's own limit of 5 s and more. */
const PROMPT_MS = 4500
/** A transaction that stands still keeps its locks for ten seconds, and whoever sweeps the lease. A worker starts meanwhile. */
const LONGEST_MS = 30_000

/**
 * A worker that is frozen with its connections open, as a host that is paused: in the middle of beginning an attempt,
 * with the lock of the partner's endpoint, and of a sweep. It works on a namespace of its own, because what Temporal
 * hands to a frozen worker waits for Temporal, and this is about what waits for PostgreSQL.
 */
describe('a worker that is frozen', () => {
  let service: Service
  let elsewhere: Service
  let blocked: TestPartner
  let other: TestPartner
  let swept: TestPartner
  let frozen: ServiceProcess
  let inside: number
  let waiting: number[]
  let unstarted: number
  let frozenAt: number
  let committedAt: number
  let seen: { token: number; until: Date | null } | undefined

  beforeAll(async () => {
    service = await prepareService()
    elsewhere = await inNamespaceOfItsOwn(service)
    ;[blocked, other, swept] = await Promise.all([
      service.addPartner(),
      service.addPartner(),
      service.addPartner(),
    ])
    frozen = await service.startWorker({ TEMPORAL_NAMESPACE: elsewhere.namespace })
    await hasCompared(service.sql, 1)
    const sweeping = await leadsOf(service, swept).commit()
    const sweep = await holdRow(service.sql, 'leads', `id = ${sweeping}`)
    inside = await leadsOf(service, blocked).commit()
    // what beginAttempt needs after it has the endpoint
    const begin = await holdRow(service.sql, 'lead_events', `lead_id = ${inside}`)
    await until(sweepStandsStill)
    await Promise.all([elsewhere.referrals.startFromRecord(inside), begin.reached()])
    process.kill(frozen.pid, 'SIGSTOP')
    frozenAt = Date.now()
    await Promise.all([sweep.release(), begin.release()])
    const ofBlocked = leadsOf(service, blocked)
    waiting = await Promise.all(Array.from({ length: WAITING }, () => ofBlocked.start()))
    await service.startWorker()
    await hasCompared(service.sql, 2)
    committedAt = Date.now()
    unstarted = await leadsOf(service, swept).commit()
  }, 60_000)

  /** Whether a sweep takes so long that its lease was renewed. */
  async function sweepStandsStill(): Promise<boolean> {
    const lease = service.sql
      .selectFrom('leases')
      .select(['token', 'until'])
      .where('name', '=', 'sweep')
      .where('until', 'is not', null)
    const before = await lease.executeTakeFirst()
    if (before?.token === seen?.token && Number(before?.until) > Number(seen?.until)) return true
    seen = before
    return false
  }

  async function inNamespaceOfItsOwn({ client, sql, ...rest }: Service): Promise<Service> {
    const { connection } = client
    const namespace = `test-${randomBytes(6).toString('hex')}`
    await registerNamespace(connection, namespace)
    await ensureSearchAttributes(connection, namespace)
    const own = new Client({ connection, namespace })
    return { ...rest, sql, namespace, client: own, referrals: createReferrals({ client: own, sql }) }
  }

  it('keeps its partner’s webhooks waiting for less than 30 s, and no other’s', async () => {
    const ofBlocked = leadsOf(service, blocked)
    const ofOther = leadsOf(service, other)
    const tookMs: number[] = []
    for (let count = 0; count < OTHERS; count += 1) {
      const begun = performance.now()
      const leadId = await ofOther.start()
      await other.endpoint.until(() => ofOther.arrivals(leadId).length === 1)
      tookMs.push(performance.now() - begun)
    }
    // all but one in twenty
    expect(tookMs.toSorted((a, b) => a - b).at(-2)).toBeLessThan(PROMPT_MS)
    await blocked.endpoint.until(() => waiting.every((leadId) => ofBlocked.arrivals(leadId).length > 0))
    const goOn = waiting.map((leadId) => Number(ofBlocked.arrivals(leadId)[0]?.at))
    expect(Math.max(...goOn) - frozenAt).toBeLessThan(LONGEST_MS)
  })

  it('keeps no lead that nobody has started waiting for longer', async () => {
    const leads = leadsOf(service, swept)
    await swept.endpoint.until(() => leads.arrivals(unstarted).length === 1)
    expect(Number(leads.arrivals(unstarted)[0]?.at) - committedAt).toBeLessThan(LONGEST_MS)
  })

  it('does no harm once it is thawed: it goes on, and repeats no webhook', async () => {
    process.kill(frozen.pid, 'SIGCONT')
    const leads = leadsOf(elsewhere, blocked)
    const later = await leads.start()
    await blocked.endpoint.until(() => leads.arrivals(later).length === 1)
    await blocked.endpoint.until(() => leads.arrivals(inside).length > 0)
    expect(await frozen.stop()).toBe(0)
    for (const { endpoint } of [blocked, other, swept]) {
      const ids = endpoint.arrivals.map(({ id }) => id)
      expect(ids).toEqual([...new Set(ids)])
    }
  })
})
