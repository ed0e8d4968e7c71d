import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { forEachInFlight } from '../../src/core/temporal/in-flight.ts'
import { staffProcess } from '../staff/context.ts'
import { runToEnd } from '../support/processes.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

const POOL = 5
/** As docs/operations/metrics-and-limits.md has them. */
const MIGRATE = 6
const STAFF = 5
const LEADS = 100
const LOOK_MS = 5

describe('the connections to PostgreSQL', () => {
  let service: Service
  let partner: TestPartner

  beforeAll(async () => {
    service = await prepareService({ DATABASE_POOL: String(POOL) })
    partner = await service.addPartner()
  })

  async function sessions(): Promise<number[]> {
    const { rows } = await raw<{ pid: number }>`select pid from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend'`.execute(service.sql)
    return rows.map(({ pid }) => pid)
  }

  /** The most that are open at a time while `work` is under way, beside those of before. */
  async function mostDuring(work: () => Promise<unknown>): Promise<number> {
    const before = new Set(await sessions())
    let most = 0
    const over = new AbortController()
    const ended = work().finally(() => over.abort())
    while (!over.signal.aborted) {
      most = Math.max(most, (await sessions()).filter((pid) => !before.has(pid)).length)
      // to look takes processor time from the work
      await delay(LOOK_MS)
    }
    await ended
    return most
  }

  it('of an API and a worker under load are never more than DATABASE_POOL of each', async () => {
    const most = await mostDuring(async () => {
      const [api, worker] = await Promise.all([service.startApi(), service.startWorker()])
      const { createLead } = partnerCalls(api.port, partner.key)
      // more at once than have a connection, and fewer than have to wait for too long
      expect(await forEachInFlight(Array.from({ length: LEADS }), () => createLead())).toEqual([])
      await partner.endpoint.until((arrivals) => arrivals.length >= LEADS)
      await Promise.all([api.stop(), worker.stop()])
    })
    expect(most).toBeLessThanOrEqual(2 * POOL)
    // both were really put to the test
    expect(most).toBeGreaterThan(POOL)
  }, 60_000)

  it.each(['startApi', 'startWorker'] as const)(
    'that PostgreSQL cannot carry are told of at the start: %s',
    async (start) => {
      const { output, stop } = await service[start]({ DATABASE_POOL: '1000' })
      const told = /max_connections of \d+ leaves \d+ more connections, and this process opens up to 1000/
      await until(async () => told.test(output()))
      expect(await stop()).toBe(0)
    },
  )

  it('of migrate are six at most', async () => {
    const environment = { ...service.environment, MIGRATION_DATABASE_URL: service.ownerUrl }
    const most = await mostDuring(async () => {
      const { code, stderr } = await runToEnd('src/migrate.ts', environment)
      expect([code, stderr]).toEqual([0, ''])
    })
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(MIGRATE)
  })

  it('of a staff command are five at most', async () => {
    const most = await mostDuring(async () => {
      expect((await staffProcess(service.environment, ['inbox'])).stderr).toBe('')
    })
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(STAFF)
  })
})
