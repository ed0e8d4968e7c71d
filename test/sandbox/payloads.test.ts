import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { milestone } from '../../src/leads/staff.ts'
import { milestoneUpdate, type ReferralView, simulateUpdate } from '../../workflows/messages.ts'
import { recordMilestones } from '../../src/leads/record-milestones.ts'
import { webhookBody } from '../../src/webhooks/body.ts'
import { contextOf } from '../staff/context.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { type SandboxPartner, sandboxPartner } from './partner.ts'

const mark = randomBytes(5).toString('hex')
const GAINS = {
  experian_gain: 1,
  equifax_gain: 2,
  transunion_gain: 3,
  estimated_time_remaining: '30-60 days',
}
/** Gains that bring along, by `way`, what must not get in. */
const laden = (way: string) => ({
  ...GAINS,
  ssn: `ssn-${mark}-${way}`,
  name: { first: [`first-${mark}-${way}`] },
  [`Ada Miller ${mark}-${way}`]: 1,
})

describe('a score update’s payload with more in it than gains', () => {
  let service: SharedService
  let partner: SandboxPartner
  let lead: number

  beforeAll(async () => {
    service = await sharedService()
    partner = await sandboxPartner(service, service.port)
    lead = await partner.createLead()
    await partner.endpoint.until(({ length }) => length === 1)
  })

  const handle = () => service.client.workflow.getHandle(`lead-${lead}`)
  /** Where PostgreSQL has the mark: tables, not rows. */
  async function tablesWith(text: string): Promise<string[]> {
    const { rows } = await raw<{ name: string }>`
      select tablename as name from pg_tables where schemaname = current_schema()`.execute(service.sql)
    const found: string[] = []
    for (const { name } of rows) {
      const { rows: hits } = await raw`select from ${raw.table(name)} as t
        where to_jsonb(t)::text like ${`%${text}%`} limit 1`.execute(service.sql)
      if (hits.length > 0) found.push(name)
    }
    return found
  }
  /** What Temporal keeps of the lead, without events of some types. */
  async function historyWithout(...types: string[]): Promise<string> {
    const { events } = await handle().fetchHistory()
    const kept = events?.filter((event) => !types.some((type) => type in JSON.parse(JSON.stringify(event))))
    const decoded = (key: string, value: unknown) =>
      key === 'data' ? Buffer.from(String(value), 'base64').toString() : value
    return JSON.stringify(kept, decoded)
  }

  it('is refused where its sender waits for an answer', async () => {
    const events = [{ event_name: 'score_update', event_payload: laden('several') }]
    for (const sent of [{ event_name: 'score_update', event_payload: laden('one') }, { events }]) {
      const { status, error } = await partner.simulate(lead, sent)
      expect([status, error?.message]).toEqual([400, expect.stringContaining('ssn is not a gain')])
    }
    const context = await contextOf(service.environment)
    await expect(milestone(context, lead, 'score_update', { payload: laden('staff') })).rejects.toThrow(
      '--payload must have the four fields of gains only',
    )
    const update = { name: 'score_update', id: 'a', event_payload: laden('update') } as const
    await expect(handle().executeUpdate(milestoneUpdate, { args: [update] })).rejects.toMatchObject({
      cause: {
        message:
          'score_update: its payload has fields that gains do not have: ssn, name and 1 more. Nothing was recorded.',
      },
    })
    const reversed = { ...GAINS, estimated_time_remaining: '60-30 days' }
    const backwards = { name: 'score_update', id: 'a', event_payload: reversed } as const
    await expect(handle().executeUpdate(milestoneUpdate, { args: [backwards] })).rejects.toMatchObject({
      cause: {
        message: expect.stringMatching(/^score_update: its payload is not well-formed: .*recorded\.$/),
      },
    })
    const simulation = { key: 'a', events: [{ name: 'score_update' as const, gains: laden('simulation') }] }
    await expect(handle().executeUpdate(simulateUpdate, { args: [simulation] })).rejects.toMatchObject({
      cause: { message: 'The argument is {"key": "…", "events": [{"name": …}, …]}.' },
    })
  })

  it('is recorded and sent without it where it comes by signal, and operators see what was left out', async () => {
    await service.referrals.signal(lead, 'score_update', { id: 'b', event_payload: laden('signal') })
    await partner.endpoint.until(({ length }) => length === 2)
    expect(partner.arrivals(lead)[1]?.data).toMatchObject({ event_payload: GAINS })
    const { notes } = await handle().query<ReferralView>('state')
    expect(notes).toMatchObject([
      { what: 'score_update', why: 'its payload has fields that gains do not have: ssn, name and 1 more' },
    ])
  })

  it('is recorded without it, even if it came as far as the record', async () => {
    const item = { name: 'score_update', dedupeKey: 'score_update:c', gains: laden('record') } as const
    await recordMilestones(service.sql, lead, [item], (facts) =>
      webhookBody({ ...facts, environment: 'sandbox' }),
    )
    const recorded = await service.sql
      .selectFrom('lead_events')
      .select('event_payload')
      .where('dedupe_key', '=', 'score_update:c')
      .executeTakeFirst()
    expect(recorded).toEqual({ event_payload: GAINS })
  })

  it('leaves nothing in the record, in webhooks, or in what the service puts into Temporal', async () => {
    expect(await tablesWith(mark)).toEqual([])
    expect(JSON.stringify(partner.endpoint.arrivals)).not.toContain(mark)
    // its sender put that there
    const sent = 'workflowExecutionSignaledEventAttributes'
    expect(await historyWithout()).toContain(`ssn-${mark}-signal`)
    expect(await historyWithout(sent)).not.toContain(mark)
  })

  it('leaves nothing behind an erasure', async () => {
    const { status } = await partner.post('erase-lead', { lead_id: lead, reason: 'borrower_request' })
    expect(status).toBe(200)
    expect(await tablesWith(mark)).toEqual([])
  })
})
