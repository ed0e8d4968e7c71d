import { beforeAll, describe, expect, it } from '@jest/globals'
import type { StaffContext } from '../../src/staff/context.ts'
import { leadsEnd } from '../../src/leads/lead.ts'
import { readLeadClock } from '../../src/sandbox/lead-time.ts'
import { advanceLead } from '../../src/sandbox/staff.ts'
import { showLead } from '../../src/leads/staff-show.ts'
import { requireLead } from '../../src/leads/require-lead.ts'
import { auditOf, contextOf, staff } from '../staff/context.ts'
import { leadsOf } from '../support/leads.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { inTime, untilInTime } from './in-time.ts'

const DAY_MS = 24 * 60 * 60 * 1000

describe('staff lead advance', () => {
  let service: SharedService
  let context: StaffContext
  let leads: ReturnType<typeof leadsOf>
  let lead: number

  beforeAll(async () => {
    service = await sharedService()
    const partner = await service.addPartner()
    context = await contextOf(service.environment)
    leads = leadsOf(service, partner)
    await begin()
  }, 60_000)

  async function begin(): Promise<void> {
    lead = await leads.start()
    await service.referrals.record(lead, { name: 'escrow_funded' })
    // what is open is among what happens while a clock is moved
    await until(async () => {
      const open = service.sql.selectFrom('deliveries').select('event_id').where('lead_id', '=', lead)
      return (await open.where('state', '=', 'pending').execute()).length === 0
    })
  }

  it(
    'moves a lead’s clock as the API does, and the audit says who and how far',
    untilInTime(begin, async () => {
      const args = ['lead', 'advance', String(lead), '--days', '45', '--json', '--as', 'Kim']
      const { code, stdout } = await inTime(
        () => staff(service.environment, args),
        (answer) => (JSON.parse(answer.stdout) as { status: string }).status,
      )
      const { now, happened, ...answer } = JSON.parse(stdout)
      expect([code, answer]).toEqual([0, { lead_id: lead, status: 'score_update', stopped: null }])
      expect(Date.parse(now)).toBeGreaterThan(Date.now() + 44 * 24 * 60 * 60 * 1000)
      expect(happened.map((line: { what: string }) => line.what)).toEqual(['event', 'webhook'])
      const ofLead = (await auditOf(context)).filter(({ lead_id: of }) => of === lead)
      expect(ofLead.at(-1)).toMatchObject({
        actor: 'Kim',
        action: 'lead.advance',
        outcome: 'done',
        lead_id: lead,
        detail: { days: 45, outcome: 'done', offset_seconds: expect.any(Number) },
      })
    }),
  )

  it('says when nothing happened', async () => {
    const { json, text } = await advanceLead(context, lead, { to: 'end' })
    expect([json.happened, text]).toEqual([[], expect.stringContaining('score_update')])
  })

  it('shows when a lead was closed as the API does: on its own clock', async () => {
    await service.referrals.record(lead, { name: 'mortgage_ready' })
    await advanceLead(context, lead, { days: 40 })
    // its answer may come before its end
    await until(async () => {
      const clock = await readLeadClock(service.sql, lead)
      return clock?.isClosed === true && Math.round(clock.offsetSeconds / 86_400) === 85
    })
    const { text, json } = await showLead(context, await requireLead(context.sql, lead))
    const [row] = await service.sql
      .selectFrom('leads')
      .select(leadsEnd.as('closed'))
      .where('id', '=', lead)
      .execute()
    expect(json.closed_at).toEqual(row?.closed)
    expect(json.closed_at!.getTime()).toBeGreaterThan(Date.now() + 74 * DAY_MS)
    expect(text).toMatch(/^clock ahead +85 days$/m)
  })

  it('tells operators how far the clock is ahead, though nothing was due on the way', async () => {
    const other = await leads.start()
    await advanceLead(context, other, { days: 16 })
    const handle = service.client.workflow.getHandle(`lead-${other}`)
    const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')
    expect(currentDetails).toContain('**Its clock** was moved: it runs 16 days ahead')
  })

  it.each([
    [['--days', '0'], 'Use a whole number from 1 to 730.'],
    [['--days', '1', '--to', 'end'], 'cannot be used with'],
    [[], 'Say how far'],
  ])('refuses %j', async (options, message) => {
    const { code, stderr } = await staff(service.environment, ['lead', 'advance', String(lead), ...options])
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining(message)])
  })

  it('refuses in production', async () => {
    const production = { ...context, config: { ...context.config, ENVIRONMENT: 'production' as const } }
    await expect(advanceLead(production, lead, { days: 1 })).rejects.toThrow('in a sandbox only')
  })
})
