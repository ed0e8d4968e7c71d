import { beforeEach, describe, expect, it } from '@jest/globals'
import {
  admitScenarios,
  beginScenario,
  endScenario,
  requestScenario,
} from '../../src/capabilities/sandbox/statements/sandbox-runs.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { MOST_RUNS } from '../../src/capabilities/sandbox/decisions/sandbox-runs.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'

describe('places of a partner’s scenarios', () => {
  let sql: Sql
  let partnerId: number
  beforeEach(async () => {
    ;({ sql, partnerId } = await openDatabase())
  })

  const requestOne = async () =>
    sql.transaction().execute(async (trx) => {
      const lead = await insertLead(trx, partnerId, LEAD, () => '{}')
      await requestScenario(trx, partnerId, lead, 'chatty_borrower')
      return lead
    })
  const request = async (count: number) => {
    const leads: number[] = []
    while (leads.length < count) leads.push(await requestOne())
    return leads
  }
  const admit = async () => admitScenarios(sql, partnerId)
  const waiting = async () => {
    const rows = sql.selectFrom('sandbox_runs').select('id').where('admitted_at', 'is', null)
    return (await rows.execute()).length
  }

  it('are all taken at once while no more are requested than there are', async () => {
    const leads = await request(MOST_RUNS.scenario)
    expect((await admit()).map(({ leadId }) => leadId)).toEqual(leads)
    expect(await waiting()).toBe(0)
  })

  it('are taken one at a time by a flood, in the order of the requests, until the last few', async () => {
    const leads = await request(MOST_RUNS.scenario + 3)
    const played: number[] = []
    while ((await waiting()) > MOST_RUNS.scenario) {
      const [one, ...others] = await admit()
      expect(others).toEqual([])
      if (one === undefined) break
      // none in its place, however often it is asked for
      await beginScenario(sql, one.id)
      expect(await admit()).toEqual([])
      await endScenario(sql, one.id)
      played.push(one.leadId)
    }
    const last = await admit()
    expect([...played, ...last.map(({ leadId }) => leadId)]).toEqual(leads)
    expect([played.length, last.length]).toEqual([3, MOST_RUNS.scenario])
  })

  it('of those that are under way are kept when a flood comes', async () => {
    await request(MOST_RUNS.scenario)
    const first = await admit()
    await request(5)
    expect(await admit()).toEqual(first)
    for (const { id } of first.slice(1)) await endScenario(sql, id)
    expect(await admit()).toEqual(first.slice(0, 1))
  })
})
