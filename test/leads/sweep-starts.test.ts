import { beforeAll, describe, expect, it } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { sql as raw } from 'kysely'
import { createLogger } from '../../src/observe/log.ts'
import { createReferrals } from '../../src/leads/referrals.ts'
import { sweepStarts } from '../../src/leads/sweep-starts.ts'
import { atEnd } from '../support/at-end.ts'
import { breakLead } from '../support/broken-lead.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

/** More than are started at a time. */
const BROKEN = 9

describe('the sweep', () => {
  let service: Service
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    service = await prepareService()
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
  })

  it('starts all other leads though some cannot be started, and logs each of those once', async () => {
    const broken: number[] = []
    for (let count = 0; count < BROKEN; count += 1) {
      broken.push(await leads.commit())
      await breakLead(service.sql, broken.at(-1) ?? 0)
    }
    const good = await leads.commit()
    const closed = await leads.commit()
    const { sql } = service
    await raw`update leads set closed_at = now(), close_reason = 'withdrew' where id = ${closed}`.execute(sql)
    const worker = await service.startWorker()
    await partner.endpoint.until(() => leads.arrivals(good).length === 1)
    // its webhook is due nonetheless
    await partner.endpoint.until(() => leads.arrivals(closed).length === 1)
    // in a later turn
    const later = await leads.commit()
    await partner.endpoint.until(() => leads.arrivals(later).length === 1)
    // log lines come through a pipe, later than webhooks
    const told = await until(async () => {
      const lines = worker.output().split('\n')
      const found = lines.filter((line) => line.includes('cannot start a lead’s workflow'))
      return found.length >= BROKEN && found.map((line) => (JSON.parse(line) as { lead_id: number }).lead_id)
    })
    expect(told.toSorted((a, b) => a - b)).toEqual(broken)
    await worker.stop()
  })

  it('ends its turn soon when Temporal is away, however many leads wait', async () => {
    for (let count = 0; count < 40; count += 1) await leads.commit()
    await until(async () => {
      const young = service.sql.selectFrom('leads').select('id').where('workflow_started_at', 'is', null)
      return (await young.where('created_at', '>', new Date(Date.now() - 1000)).execute()).length === 0
    })
    const client = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) })
    atEnd(() => client.connection.close())
    const referrals = createReferrals({ client, sql: service.sql, callLimitMs: 500 })
    const stopping = new AbortController()
    const lines: string[] = []
    const write = (line: string) => {
      lines.push(line)
      stopping.abort()
    }
    const asked: number[] = []
    await sweepStarts({
      sql: service.sql,
      referrals: {
        startFromRecord: (leadId) => {
          asked.push(leadId)
          return referrals.startFromRecord(leadId)
        },
      },
      inFlight: 8,
      log: createLogger('info', 'worker', { destination: { write } }),
      signal: stopping.signal,
    })
    expect(lines).toEqual([expect.stringContaining('cannot start the workflows of leads that have none')])
    // the broken leads, and as many others as are started at a time
    expect(asked.length).toBeLessThanOrEqual(BROKEN + 8)
  })
})
