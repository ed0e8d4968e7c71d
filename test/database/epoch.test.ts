import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { recordMilestones } from '../../src/leads/record-milestones.ts'
import { raiseEpoch, requireDeployment } from '../../src/database/deployment.ts'
import type { Sql } from '../../src/database/sql.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'
import { until } from '../support/until.ts'

describe('another epoch of the record', () => {
  let sql: Sql
  let partnerId: number

  beforeEach(async () => {
    ;({ sql, partnerId } = await openDatabase())
    await requireDeployment(sql, 'sandbox')
  })

  const raise = () => sql.transaction().execute((trx) => raiseEpoch(trx))
  const newLead = () => sql.transaction().execute((trx) => insertLead(trx, partnerId, LEAD, () => '{}'))
  const record = (leadId: number, name: 'contract_signed' | 'escrow_funded') =>
    recordMilestones(sql, leadId, [{ name, dedupeKey: name }], () => '{}')
  const epochs = async () =>
    (await sql.selectFrom('lead_events').select('epoch').orderBy('txid').execute()).map(({ epoch }) => epoch)

  it('skips ids of every table, and sequences, so that none is given again', async () => {
    const before = await newLead()
    await raise()
    expect(await newLead()).toBe(before + 1_000_001)
    const { rows } = await raw<{
      id: number
    }>`insert into partners (name) values ('Next') returning id`.execute(sql)
    expect(rows[0]?.id).toBe(partnerId + 1001)
    const recorded = await record(before, 'contract_signed')
    expect(recorded?.recording.outcomes[0]).toMatchObject({ sequence: 1002 })
  })

  it('counts seconds, so that an epoch that a restore forgot is not given again', async () => {
    const seconds = () => Math.floor((Date.now() - Date.UTC(2026, 0)) / 1000)
    const before = seconds()
    const [first, second] = [await raise(), await raise()]
    expect(first).toBeGreaterThanOrEqual(before)
    expect(second).toBeGreaterThan(first)
    expect(second).toBeLessThanOrEqual(seconds() + 3)
  })

  it('has each event that is committed after it, also one whose transaction began before', async () => {
    const leadId = await newLead()
    const [former] = await epochs()
    const committed = Promise.withResolvers<void>()
    const raised = Promise.withResolvers<number>()
    const raising = sql.transaction().execute(async (trx) => {
      raised.resolve(await raiseEpoch(trx))
      await committed.promise
    })
    const epoch = await raised.promise
    const writing = Promise.all([newLead(), record(leadId, 'escrow_funded')])
    await until(async () => {
      const { rows } = await raw`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(sql)
      return rows.length === 2
    })
    committed.resolve()
    await Promise.all([raising, writing])
    expect(await epochs()).toEqual([former, epoch, epoch])
  })
})
