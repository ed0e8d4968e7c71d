import { setTimeout as delay } from 'node:timers/promises'
import type { AlertWatch } from './alert-watch.ts'
import { type Broken, brokenBy, checkInvariants } from './check.ts'
import { gatherFacts, readRecord, type RecordFacts } from './facts.ts'
import type { Follower } from './follower.ts'
import { type Journal, startLoad } from './load.ts'
import { type Loss, lossOf, notCreatedAgain, repeatCreates } from './loss.ts'
import { missingMilestones, probeLeads, sendAgain } from './probe.ts'
import { findHotLoops, untilNothingWaits } from './quiet.ts'
import { REFUSED_EVERY, type Stack } from './stack.ts'

/** Answers with what was seen, if that is worth telling. */
type Step = () => Promise<string | void>

/** A bad day: what leads up to it, what happens, and what operators do. */
export interface Disaster {
  name: string
  leadUp: Step
  strike: Step
  recover: Step
  /** Once the server is back. */
  runbook?: Step
  /** Whether anything works on although nothing happens is not looked for after each. */
  isWatched?: boolean
  /** What else must be so, once nothing waits. */
  verify?: (lost: Loss, notes: string[]) => Promise<Broken[]>
  /** What was lost with the server, and stays so until its senders repeat it. */
  mayLose: { leads: boolean; milestones: boolean }
  /** The alerts that may fire beside those of what is away. */
  alerts?: readonly string[]
}

/** Where it happens: one deployment, and all that was ever sent to it. */
export interface Ground {
  stack: Stack
  journal: Journal
  follower: Follower
  alerts: AlertWatch | undefined
}

export interface Outcome {
  name: string
  lost: Loss
  /** Of the lost, what is still missing once nothing waits, before its senders repeat it. */
  missing: { leads: number; milestones: number }
  /** Seconds after the strike. */
  seconds: { back: number; lead: number; webhook: number; settled: number }
  broken: Broken[]
  notes: string[]
  /** The alerts that fired; absent where there is no Prometheus. */
  fired?: string[]
}

const AFTERWARDS_MS = 2000
/** Answers that were under way when the server died. */
const UNDER_WAY_MS = 50
const CATCH_UP_MS = 30_000
const GIVE_UP_MS = 3000
const MOST_PROBED = 20

export async function rehearse(ground: Ground, disaster: Disaster): Promise<Outcome> {
  const { stack, journal, follower, alerts } = ground
  const begunAt = Date.now()
  const say = (line: string) =>
    process.stderr.write(`${disaster.name}, ${((Date.now() - begunAt) / 1000).toFixed(0)} s: ${line}\n`)
  stack.refusing.every = REFUSED_EVERY
  const load = startLoad(stack, journal)
  const notes: string[] = []
  const take = async (step?: Step) => {
    const seen = await step?.()
    if (typeof seen === 'string') notes.push(seen)
  }
  await take(disaster.leadUp)
  say(`strikes with ${journal.borrowers.length} leads`)
  alerts?.begin()
  const struckAt = Date.now()
  await take(disaster.strike)
  const deadAt = Date.now() + UNDER_WAY_MS
  await take(disaster.recover)
  const backAt = Date.now()
  const restored = await readRecord(stack)
  const lost = lossOf(journal, restored, { struckAt, deadAt })
  say(`back; lost ${lost.leads.length} leads and ${lost.milestones.length} milestones`)
  const broken: Broken[] = [...lost.broken]
  await take(disaster.runbook).catch((error: unknown) => broken.push(...brokenBy('runbook', [String(error)])))
  await repeatCreates(load, lost)
  await delay(AFTERWARDS_MS)
  await load.stop()
  const settled = await untilNothingWaits(stack)
  broken.push(...settled.broken)
  const caughtUp = await untilCaughtUp(ground, disaster)
  say(`nothing waits; ${caughtUp.missing.length} milestones are missing`)
  const seconds = (at: number) => (at - struckAt) / 1000
  const missing = {
    leads: notCreatedAgain(lost, caughtUp.record).length,
    milestones: caughtUp.missing.length,
  }
  broken.push(
    ...unexpectedLoss(disaster, lost, caughtUp.missing),
    ...((await disaster.verify?.(lost, notes)) ?? []),
  )
  // the second attempt at a webhook would take the probes six seconds longer
  stack.refusing.every = Number.POSITIVE_INFINITY
  await sendAgain(load, caughtUp.missing)
  broken.push(...(await probeLeads(stack, load, affected(lost, caughtUp.record))))
  broken.push(...(await untilNothingWaits(stack)).broken)
  say('probed')
  if (disaster.isWatched !== false) broken.push(...(await findHotLoops(stack)))
  const seen = await alerts?.end(disaster.alerts)
  if (seen !== undefined) broken.push(...seen.broken)
  await untilFollowed(stack, follower)
  say('watched')
  broken.push(...checkInvariants(await gatherFacts(stack, journal, follower)))
  const acks = journal.borrowers.flatMap((borrower) => borrower.acks.map(({ at }) => at))
  const webhooks = stack.partner.endpoint.arrivals.map(({ at }) => at)
  const firstAfter = (times: readonly number[], after: number) =>
    seconds(times.reduce((first, at) => (at > after ? Math.min(first, at) : first), Number.POSITIVE_INFINITY))
  return {
    name: disaster.name,
    lost,
    missing,
    seconds: {
      back: seconds(backAt),
      lead: firstAfter(acks, struckAt + UNDER_WAY_MS),
      webhook: firstAfter(webhooks, struckAt + UNDER_WAY_MS),
      settled: seconds(Math.max(settled.at, caughtUp.at)),
    },
    broken,
    notes,
    ...(seen && { fired: seen.fired }),
  }
}

/** Waits until the record has every milestone that was taken, for as long as that may take. */
async function untilCaughtUp({ stack, journal }: Ground, { mayLose }: Disaster) {
  const end = Date.now() + (mayLose.milestones ? GIVE_UP_MS : CATCH_UP_MS)
  for (;;) {
    const record = await readRecord(stack)
    const missing = missingMilestones(journal, record)
    if (missing.length === 0 || Date.now() > end) return { at: Date.now(), record, missing }
    await delay(UNDER_WAY_MS)
  }
}

async function untilFollowed(stack: Stack, { seen }: Follower): Promise<void> {
  const end = Date.now() + CATCH_UP_MS
  const { events } = await readRecord(stack)
  while (!events.every(({ id }) => seen.has(id)) && Date.now() < end) await delay(UNDER_WAY_MS)
}

function unexpectedLoss({ mayLose }: Disaster, lost: Loss, missing: readonly unknown[]): Broken[] {
  const leads = mayLose.leads ? [] : lost.leads.map(({ leadId }) => `lead ${leadId}`)
  const milestones = mayLose.milestones ? [] : missing.map((one) => JSON.stringify(one))
  return [
    ...brokenBy('no lead is lost', leads),
    ...brokenBy('milestones that Temporal has taken are recorded by themselves', milestones),
  ]
}

/** Leads of the record that were touched by the loss first, then the latest. */
function affected(lost: Loss, { leads }: RecordFacts): number[] {
  const ids = [...lost.milestones.map(({ leadId }) => leadId), ...[...leads.keys()].toReversed()]
  return [...new Set(ids)].filter((id) => leads.has(id)).slice(0, MOST_PROBED)
}
