import { beforeAll, describe, expect, it } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { sql as raw } from 'kysely'
import { finishDrainingActivity } from '../../activities/finish-draining.ts'
import { wakeLeadsActivity } from '../../activities/wake-leads.ts'
import { findDraining } from '../../src/core/endpoints/statements/draining.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import type { WakeProgress } from '../../src/core/endpoints/decisions/draining.ts'
import { oweNotice } from '../../src/core/endpoints/statements/notices.ts'
import { createLogger } from '../../src/logger.ts'
import { prepareDelivering } from '../support/delivering.ts'

const LEADS = 8

describe('waking the leads of an endpoint that works again', () => {
  let wakeLeads: ReturnType<typeof wakeLeadsActivity>
  let endpointId: number
  let since: string
  let sql: Sql
  const leadIds: number[] = []
  const woken: number[] = []
  const logged: string[] = []
  let refused: number | undefined

  let on: Awaited<ReturnType<typeof prepareDelivering>>

  beforeAll(async () => {
    on = await prepareDelivering()
    const { partnerId, commitLead } = on
    sql = on.sql
    for (let count = 0; count < LEADS; count += 1) leadIds.push(await commitLead())
    const row = await sql
      .selectFrom('endpoints')
      .select('id')
      .where('partner_id', '=', partnerId)
      .executeTakeFirstOrThrow()
    endpointId = row.id
    since = (await findDraining(sql, endpointId))?.since ?? ''
    const signal = async (leadId: number) => {
      if (leadId === refused) throw new Error('its history is full')
      woken.push(leadId)
      return true
    }
    const log = createLogger('info', 'worker', { destination: { write: (line) => void logged.push(line) } })
    wakeLeads = wakeLeadsActivity({ sql, wakeLead: signal, log })
  })

  const run = async (progress: WakeProgress, full = 0) => {
    woken.length = 0
    return new MockActivityEnvironment().run(wakeLeads, endpointId, progress, full)
  }

  it('wakes as many as there is room for, in the order of their ids', async () => {
    expect(await run({ since: '', leadId: 0 })).toEqual({
      since,
      leadId: leadIds[4],
      count: 5,
      isLast: false,
      unsent: 0,
    })
    expect(woken).toEqual(leadIds.slice(0, 5))
  })

  it('goes on where it was, and says when none is left', async () => {
    const last = { since, leadId: leadIds.at(-1), count: LEADS - 5, isLast: true, unsent: 0 }
    expect(await run({ since, leadId: leadIds[4]! })).toEqual(last)
    expect(woken).toEqual(leadIds.slice(5))
  })

  it('wakes the others though one cannot be woken, and says which', async () => {
    refused = leadIds[1]
    expect(await run({ since: '', leadId: 0 })).toMatchObject({ leadId: leadIds[4], count: 5 })
    refused = undefined
    expect(woken).toEqual(leadIds.slice(0, 5).filter((id) => id !== leadIds[1]))
    expect(logged).toEqual([expect.stringContaining(`"lead_id":${leadIds[1]}`)])
  })

  it('begins anew when the endpoint was resumed again since', async () => {
    await run({ since: 'before', leadId: leadIds[1]! })
    expect(woken).toEqual(leadIds.slice(0, 5))
  })

  it('leaves the next attempt of what was tried since it works again, however often it is repeated', async () => {
    const [tried = 0, other = 0] = leadIds
    const before = { failures: 3, next_attempt_at: new Date(Date.now() + 3_600_000) }
    const deliveries = sql.updateTable('deliveries').set(before)
    await deliveries.where('lead_id', '=', other).execute()
    // the endpoint gets it, and the service does not learn of that
    on.endpoint.answer = (_, response) => void response.destroy()
    await expect(on.deliver(tried, 1, 'scheduled')).rejects.toThrow('failure 1')
    const next = () =>
      sql
        .selectFrom('deliveries')
        .select(['lead_id', 'failures', 'next_attempt_at'])
        .where('lead_id', 'in', [tried, other])
        .orderBy('lead_id')
        .execute()
    const [triedBefore] = await next()
    await run({ since: '', leadId: 0 })
    const [triedAfter, otherAfter] = await next()
    expect(triedAfter).toEqual(triedBefore)
    expect(triedAfter?.failures).toBe(1)
    expect(otherAfter?.failures).toBe(0)
    expect(otherAfter?.next_attempt_at.getTime()).toBeLessThan(before.next_attempt_at.getTime())
  })

  it('begins the schedule anew with what was tried since, but does not try it at once', async () => {
    const [tried = 0] = leadIds
    const deliveries = () => sql.updateTable('deliveries').where('lead_id', '=', tried)
    const lastButOne = new Date(Date.now() - 86_400_000)
    await deliveries().set({ failures: 10, last_but_one_at: lastButOne }).execute()
    await deliveries()
      .set({ next_attempt_at: new Date(Date.now() + 86_400_000) })
      .execute()
    const before = Date.now()
    await run({ since: '', leadId: 0 })
    const row = await sql
      .selectFrom('deliveries')
      .select(['failures', 'last_but_one_at', 'next_attempt_at'])
      .where('lead_id', '=', tried)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({ failures: 1, last_but_one_at: null })
    const inMs = row.next_attempt_at.getTime() - before
    expect(inMs).toBeGreaterThan(4000)
    expect(inMs).toBeLessThan(10_000)
  })

  it('wakes none while the endpoint has half of its requests in flight, and does not wait for them', async () => {
    const lease = { lease: 'one', leased_until: new Date(Date.now() + 60_000) }
    await sql.updateTable('deliveries').set(lease).where('lead_id', 'in', leadIds.slice(0, 5)).execute()
    const none = { since, leadId: leadIds[2], count: 0, isLast: false, unsent: 0 }
    expect(await run({ since, leadId: leadIds[2]! })).toEqual(none)
    expect(await run({ since, leadId: leadIds[2]! }, 5)).toEqual(none)
    expect(woken).toEqual([])
  })

  it('wakes one all the same once there was no room for long: live traffic may take it for ever', async () => {
    expect(await run({ since, leadId: leadIds[2]! }, 6)).toMatchObject({ leadId: leadIds[3], count: 1 })
    expect(woken).toEqual([leadIds[3]])
  })

  it('says that there are emails to be sent', async () => {
    await sql.transaction().execute((trx) => oweNotice(trx, on.partnerId, 'failing'))
    expect(await run({ since: '', leadId: 0 })).toMatchObject({ unsent: 1 })
    // so that all of them are from before
    const row = await sql
      .updateTable('endpoints')
      .set({ since: raw<Date>`now() + interval '1 hour'` })
      .returning(raw<string>`since::text`.as('since'))
      .executeTakeFirstOrThrow()
    const finish = (attempt: number) =>
      new MockActivityEnvironment({ attempt }).run(finishDrainingActivity({ sql }), endpointId, row.since)
    await expect(finish(13)).rejects.toMatchObject({ type: 'Again' })
    expect(await finish(14)).toBeUndefined()
    await sql.deleteFrom('notices').execute()
    await expect(finish(14)).rejects.toMatchObject({ type: 'Again' })
  })
})
