import { dueDates, type LeadClock } from '../../src/capabilities/sandbox/decisions/lead-clock.ts'
import {
  drawBorrower,
  drawJourney,
  type JourneyKind,
  type Step,
} from '../../src/capabilities/sandbox/populations/decisions/journeys.ts'
import type { LeadEnd } from '../../src/capabilities/sandbox/populations/decisions/population.ts'
import {
  asMember,
  endJourney,
  noteStep,
} from '../../src/capabilities/sandbox/populations/statements/population-leads.ts'
import type { PlayedPopulation } from '../../src/capabilities/sandbox/populations/statements/populations.ts'
import { failingForMs } from '../../src/capabilities/sandbox/statements/failing-for.ts'
import { moveClock } from '../../src/capabilities/sandbox/statements/move-clock.ts'
import { recordAudit } from '../../src/core/audit/statements/audit.ts'
import { PAUSE_AFTER_MS } from '../../src/core/deliveries/decisions/retry-schedule.ts'
import { eachField, optionalFieldNames } from '../../src/core/leads/decisions/lead-fields.ts'
import type { SignalledMilestone } from '../../src/core/leads/decisions/milestones.ts'
import type { CloseReason } from '../../src/core/leads/decisions/reasons.ts'
import { newReferralState, type ReferralState } from '../../src/core/leads/decisions/referral.ts'
import { leadIds } from '../../src/core/leads/statements/ids.ts'
import { insertLead, type WebhookBody } from '../../src/core/leads/statements/new-lead.ts'
import { DAY_MS } from '../../src/core/values/durations.ts'
import { leadWatch, pause, type WatchDependencies } from './lead-watch.ts'

const SECOND_MS = 1000
/** How long a retry is waited for in real time, doubled with each failure: well within a batch. */
const PATIENCE_MS = { first: 50, longest: 2000 }

interface Simulation {
  key: string
  events: { name: SignalledMilestone }[]
}

export interface PlayerDependencies extends WatchDependencies {
  encryptionKeys: readonly Buffer[]
  webhookBody: WebhookBody
  startLead: (state: ReferralState) => Promise<unknown>
  /** Resolves once they are recorded; each counts once by its key. */
  simulate: (leadId: number, simulation: Simulation) => Promise<unknown>
  /** Closes a lead because its borrower dropped out. */
  close: (leadId: number, reason: CloseReason) => Promise<unknown>
  /** Has a lead erased; false if its partner has had enough of them erased for today. Absent: nothing can be erased. */
  eraseLead?: (partnerId: number, leadId: number) => Promise<boolean>
}

/** A lead whose journey has begun. */
interface BegunLead {
  leadId: number
  number: number
  kind: JourneyKind
  /** The step to go on with. */
  step: number
  createdAt: Date
}

type Population = Pick<PlayedPopulation, 'id' | 'partnerId' | 'seed' | 'requestId'>
/** `rests`: as long after each date as that took, beside other partners. */
type Paced = Pick<Population, 'id' | 'partnerId' | 'seed'> & { rests: boolean }

/** What plays the journeys of a population's leads. The record has the progress, so a crash repeats nothing. */
export function leadPlayer(dependencies: PlayerDependencies) {
  const { sql, encryptionKeys, webhookBody, startLead, tellClock, simulate, close } = dependencies
  const { eraseLead = async () => false } = dependencies
  const { settled, becomes } = leadWatch(dependencies)
  const takeLeadId = leadIds(sql)

  /** Creates the nth lead of a population. */
  async function begin(
    { id, partnerId, seed, requestId }: Population,
    number: number,
    kind: JourneyKind = 'steady_climb',
  ): Promise<BegunLead> {
    const reserved = await takeLeadId()
    const { leadId, createdAt, generation } = reserved
    const borrower = {
      ...eachField(optionalFieldNames, () => null),
      ...drawBorrower(seed, number),
      partner_lead_id: `POPULATION-${id}-${number}`,
      // one address to the limits of onboarding emails
      email: `population+${id}-${number}@example.com`,
      phone: '555-010-0100',
    }
    await insertLead({ sql, encryptionKeys }, reserved, partnerId, borrower, webhookBody, {
      also: asMember({ populationId: id, number, kind }),
      requestId,
    })
    const facts = { requestId, generation, now: Date.now(), isSandbox: true }
    // if it fails, the sweep starts it
    await startLead(newReferralState(leadId, partnerId, facts)).catch(() => undefined)
    return { leadId, number, kind, step: 0, createdAt }
  }

  /**
   * Plays a journey to its end, or until it is cut off: then it goes on from its step. It cuts all of them off when its
   * endpoint is paused.
   */
  async function play(
    { id, partnerId, seed, rests }: Paced,
    lead: BegunLead,
    cut: AbortController,
  ): Promise<void> {
    const { signal } = cut
    const { leadId, number, kind, createdAt } = lead
    const steps = drawJourney(seed, number, kind)
    for (const [index, step] of steps.entries()) {
      if (index < lead.step) continue
      const target = createdAt.getTime() + step.day * DAY_MS
      const there = await arrive(leadId, { target, isLast: 'ends' in step, rests }, cut)
      const end =
        there === 'there' ? await take(step, { partnerId, leadId, key: `${id}:${index}` }, signal) : there
      if (end === 'cut') return noteStep(sql, leadId, index)
      if (end !== 'done') return endJourney(sql, leadId, end)
    }
    await endJourney(sql, leadId, 'played')
  }

  /** Moves a lead's clock to a moment of its time, from date to date. At the last one, open webhooks are sent first. */
  async function arrive(
    leadId: number,
    { target, isLast, rests }: { target: number; isLast: boolean; rests: boolean },
    cut: AbortController,
  ): Promise<'there' | 'cut' | LeadEnd> {
    const { signal } = cut
    for (let failures = 0; ;) {
      const began = performance.now()
      const clock = await settled(leadId, signal)
      if (clock === undefined) return 'cut'
      if (rests) await pause(performance.now() - began, signal)
      const { open, isClosed, isHeld, now, offsetSeconds } = clock
      // its webhooks are not sent, so nothing is over
      if (isHeld) {
        cut.abort()
        return 'cut'
      }
      if (isClosed && open === null) return endOf(clock)
      if (open !== null && open.failures > failures && (await failingForMs(sql, leadId)) >= PAUSE_AFTER_MS)
        return 'refused'
      failures = open?.failures ?? 0
      if (!isClosed && now >= target && (!isLast || open === null)) {
        if (isLast) await tellClock(leadId, offsetSeconds * SECOND_MS)
        return 'there'
      }
      // what is away for a moment, as an API that restarts, must not be away for days of the lead's time
      if (isRetryNext(clock)) await pause(patienceMs(failures), signal)
      const due = dueDates(clock)[0]?.at ?? target
      // a webhook that has not failed waits for its turn, by our time
      if (due <= now) await pause(PATIENCE_MS.first, signal)
      if (signal.aborted) return 'cut'
      await moveClock(sql, leadId, isClosed || now >= target ? due : Math.min(due, target))
    }
  }

  async function take(
    step: Step,
    { partnerId, leadId, key }: { partnerId: number; leadId: number; key: string },
    signal: AbortSignal,
  ): Promise<'done' | 'cut' | LeadEnd> {
    if ('happens' in step) {
      const events = step.happens.map((name) => ({ name }))
      const answer = await simulate(leadId, { key, events })
      // while no worker answers, they may still be recorded: by their key they count once
      return answer === 'unanswered' ? 'cut' : 'done'
    }
    if ('closes' in step) return dropOut(leadId, step.closes, signal)
    if ('erases' in step) {
      if (!(await eraseLead(partnerId, leadId))) return dropOut(leadId, 'other', signal)
      return (await becomes(leadId, 'isErased', signal)) ? 'erased' : 'cut'
    }
    return 'played'
  }

  /** With its rows in the audit, as when staff close a lead. The next batch waits for its last webhook. */
  async function dropOut(leadId: number, reason: CloseReason, signal: AbortSignal): Promise<'cut'> {
    const row = { action: 'lead.close', leadId, detail: { reason } }
    const begunId = await recordAudit(sql, 'population', { ...row, outcome: 'begun' })
    await close(leadId, reason)
    await recordAudit(sql, 'population', { ...row, outcome: 'done', begunId })
    await becomes(leadId, 'isClosed', signal)
    return 'cut'
  }

  return { begin, play }
}

/** How a journey ended whose lead is closed: perhaps by an erasure that the batch before this one asked for. */
function endOf({ isErased, status }: LeadClock): LeadEnd {
  if (isErased) return 'erased'
  return status === 'mortgage_ready' ? 'played' : 'closed'
}

const isRetryNext = (clock: LeadClock) => dueDates(clock)[0]?.what === 'retry'

const patienceMs = (failures: number) =>
  Math.min(PATIENCE_MS.first * 2 ** (failures - 1), PATIENCE_MS.longest)
