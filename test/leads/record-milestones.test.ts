import { beforeAll, describe, expect, it } from '@jest/globals'
import { insertLead } from '../support/insert-lead.ts'
import { putClockAhead } from '../support/clock.ts'
import { findEvents } from '../../src/leads/get-events.ts'
import type { Sql } from '../../src/database/sql.ts'
import { recordMilestones } from '../../src/leads/record-milestones.ts'
import { loadReferralState } from '../../src/leads/referrals.ts'
import type { MilestoneName } from '../../src/leads/milestones.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'
import { holdRow, sessionsThatWait } from '../support/row-lock.ts'
import { until } from '../support/until.ts'

const DAY = 24 * 60 * 60
const body = (facts: object) => JSON.stringify(facts)
const item = (name: MilestoneName, dedupeKey: string = name) => ({ name, dedupeKey })

describe('recording milestones', () => {
  let sql: Sql
  let partnerId: number

  beforeAll(async () => {
    ;({ sql, partnerId } = await openDatabase())
  })

  const newLead = () => sql.transaction().execute((trx) => insertLead(trx, partnerId, LEAD, body))
  const record = async (leadId: number, ...items: ReturnType<typeof item>[]) =>
    (await recordMilestones(sql, leadId, items, body))?.recording
  const sequences = async (leadId: number) =>
    (
      await sql
        .selectFrom('deliveries')
        .select('sequence')
        .where('lead_id', '=', leadId)
        .orderBy('sequence')
        .execute()
    ).map((row) => row.sequence)

  it('changes nothing when it is repeated, and says which event it was', async () => {
    const leadId = await newLead()
    const first = await record(leadId, item('contract_signed'))
    const again = await record(leadId, item('contract_signed'), item('contract_signed'))
    const eventId = first?.outcomes[0]?.eventId
    expect(eventId).toMatch(/^evt_[0-9a-f-]{36}$/)
    expect(again?.outcomes).toEqual([
      { outcome: 'repeated', eventId },
      { outcome: 'repeated', eventId },
    ])
    expect(await sequences(leadId)).toEqual([1, 2])
  })

  it('keeps one event of the same milestone recorded ten times at once', async () => {
    const leadId = await newLead()
    const answers = await Promise.all(Array.from({ length: 10 }, () => record(leadId, item('escrow_funded'))))
    const outcomes = answers.map((answer) => answer?.outcomes[0]?.outcome)
    expect(outcomes.filter((outcome) => outcome === 'recorded')).toHaveLength(1)
    expect(new Set(answers.map((answer) => answer?.outcomes[0]?.eventId)).size).toBe(1)
    expect(await findEvents(sql, partnerId, leadId)).toHaveLength(2)
  })

  it('that waited for one another knows what was recorded before it', async () => {
    const leadId = await newLead()
    const lock = await holdRow(sql, 'leads', `id = ${leadId}`)
    const first = record(leadId, item('mortgage_ready'))
    await lock.reached()
    const second = record(leadId, item('client_engaged_in_chat'), item('mortgage_ready'))
    await until(async () => (await sessionsThatWait(sql)) === 2)
    await lock.release()
    const { endsAt } = (await first)!
    expect(await second).toMatchObject({
      endsAt,
      outcomes: [{ outcome: 'recorded' }, { outcome: 'repeated' }],
    })
    expect(endsAt).not.toBeNull()
  })

  it('records nothing if the lead is closed while it waits', async () => {
    const leadId = await newLead()
    const lock = await holdRow(sql, 'leads', `id = ${leadId}`)
    const recorded = record(leadId, item('contract_signed'))
    await lock.reached()
    await lock.release((trx) =>
      trx
        .updateTable('leads')
        .set({ closed_at: new Date(), close_reason: 'withdrew' })
        .where('id', '=', leadId)
        .execute(),
    )
    expect((await recorded)?.outcomes).toEqual([{ outcome: 'closed' }])
    expect(await sequences(leadId)).toEqual([1])
  })

  it('never lets time run backwards within a lead, whatever its clock did', async () => {
    const leadId = await newLead()
    await putClockAhead(sql, leadId, 45 * DAY)
    await record(leadId, item('contract_signed'))
    await sql.updateTable('leads').set({ clock_offset: 0 }).where('id', '=', leadId).execute()
    await record(leadId, item('escrow_funded'))
    const times = (await findEvents(sql, partnerId, leadId))?.map((event) => event.created_at.getTime()) ?? []
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(44 * DAY * 1000)
  })

  it('leaves a record from which a workflow can be started again', async () => {
    const leadId = await newLead()
    const keys = ['score_update#3', 'score_update:7', 'score_update#2']
    await record(leadId, item('escrow_funded'), ...keys.map((key) => item('score_update', key)))
    await sql
      .updateTable('deliveries')
      .set({ state: 'delivered', settled_at: new Date() })
      .where('lead_id', '=', leadId)
      .where('sequence', '=', 1)
      .execute()
    const escrow = (await findEvents(sql, partnerId, leadId))?.[1]?.created_at.getTime()
    expect(await loadReferralState(sql, leadId)).toEqual({
      leadId,
      partnerId,
      firstEventId: expect.stringMatching(/^evt_/),
      seen: expect.arrayContaining(['lead_received', 'escrow_funded', 'score_update']),
      lastEvent: 'score_update',
      lastEventAt: (await findEvents(sql, partnerId, leadId))?.at(-1)?.created_at.getTime(),
      anchor: escrow,
      period: 4,
      isSandbox: false,
      offset: 0,
      next: 2,
      last: 5,
      endsAt: null,
      closing: false,
      failure: null,
    })
  })
})
