import { beforeAll, describe, expect, it } from '@jest/globals'
import { SCORE_PERIOD_DAYS as PERIOD } from '../../src/leads/score-dates.ts'
import { type ScenarioName, scenarioNames } from '../../src/sandbox/scenarios.ts'
import { referralId } from '../../src/temporal/names.ts'
import type { ReferralView } from '../../workflows/messages.ts'
import { atOnce } from '../support/at-once.ts'
import { leadsOf } from '../support/leads.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { whileBusy } from '../support/while-busy.ts'
import { type SandboxPartner, sandboxPartner } from './partner.ts'

const DAY_MS = 86_400_000

const signed = ['lead_received', 'client_account_created', 'credit_scan_completed', 'contract_signed']
const updates = (count: number) => Array.from({ length: count }, () => 'score_update')
/** The webhooks of each, in their order. */
const webhooksOf: Record<ScenarioName, string[]> = {
  mortgage_ready_in_a_year: [...signed, 'escrow_funded', ...updates(8), 'mortgage_ready'],
  ready_after_two_updates: [...signed, 'escrow_funded', ...updates(2), 'mortgage_ready'],
  stalled_before_escrow: signed,
  scores_go_down: [...signed, 'escrow_funded', ...updates(4)],
  chatty_borrower: signed,
  dropped_out: signed,
}

describe('a scenario', () => {
  const { begun, begin } = atOnce()
  let service: SharedService

  beforeAll(async () => {
    service = await sharedService()
    // each waits for what takes seconds, and has a partner of its own
    begin()
  })

  const newPartner = () => sandboxPartner(service, service.port)
  const history = (lead: number) =>
    service.sql
      .selectFrom('lead_events')
      .select(['event_name', 'event_payload', 'created_at'])
      .where('lead_id', '=', lead)
      .where('position', '>', 0)
      .orderBy('position')
      .execute()
  const isOver = (lead: number) =>
    until(async () => {
      const handle = service.client.workflow.getHandle(referralId(lead))
      return !(await handle.query<ReferralView>('state')).moving
    })
  const run = ({ post }: SandboxPartner, body: object) => whileBusy(() => post('sandbox/run-scenario', body))
  const typesOf = ({ arrivals }: SandboxPartner, lead: number) => arrivals(lead).map(({ type }) => type)

  for (const scenario of scenarioNames) {
    it(
      `${scenario} sends its webhooks, each once and in order`,
      begun(async () => {
        const partner = await newPartner()
        const { status, data } = await run(partner, { scenario })
        const webhooks = webhooksOf[scenario]
        expect(status).toBe(200)
        await isOver(data.lead_id)
        await partner.endpoint.until(() => partner.arrivals(data.lead_id).length >= webhooks.length)
        expect(typesOf(partner, data.lead_id)).toEqual(webhooks)
        expect(partner.endpoint.arrivals.every(({ verified }) => verified)).toBe(true)
        const dates = (await history(data.lead_id)).map((event) => event.created_at.getTime())
        expect(dates).toEqual(dates.toSorted((one, other) => one - other))
      }),
      120_000,
    )
  }

  it(
    'has its score updates on the days that it says, with gains that may be losses',
    begun(async () => {
      const partner = await newPartner()
      const lead = await partner.createLead()
      const played = await run(partner, { scenario: 'scores_go_down', lead_id: lead })
      expect(played.data.lead_id).toBe(lead)
      await isOver(lead)
      const [first, ...others] = await history(lead)
      const scores = others.filter((event) => event.event_name === 'score_update')
      const daysUntil = (at: Date) => Math.round((at.getTime() - first!.created_at.getTime()) / DAY_MS)
      expect(scores.map((event) => daysUntil(event.created_at))).toEqual([17, 27, 7 + PERIOD, 7 + 2 * PERIOD])
      const gains = scores.map(({ event_payload: payload }) => payload as { experian_gain: number })
      expect(gains.slice(0, 2).map(({ experian_gain: gain }) => gain)).toEqual([-12, -5])
    }),
    120_000,
  )

  it(
    'is played by a lead whose address at example.com names it, with create-lead alone',
    begun(async () => {
      const partner = await newPartner()
      const lead = await partner.createLead({ email: 'ada+dropped_out@example.com' })
      const other = await partner.createLead({ email: 'ada+dropped_out@lender.example' })
      const { length: expected } = webhooksOf.dropped_out
      await partner.endpoint.until(() => partner.arrivals(lead).length === expected)
      const closed = await until(async () => {
        const row = service.sql.selectFrom('leads').select('close_reason').where('id', '=', lead)
        return (await row.executeTakeFirstOrThrow()).close_reason ?? undefined
      })
      expect(closed).toBe('withdrew')
      expect(await leadsOf(service, partner).names(other)).toEqual(['lead_received'])
      const again = await run(partner, { scenario: 'dropped_out', lead_id: lead })
      expect(again.status).toBe(409)
    }),
    120_000,
  )
})
