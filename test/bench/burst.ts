import { setTimeout as delay } from 'node:timers/promises'
import { SCORE_PERIOD_MS } from '../../src/leads/score-dates.ts'
import { atRate } from './milestones.ts'
import { startSides } from './sides.ts'
import { percentile, type Row } from './table.ts'

/** Leads of a bulk import, whose score updates are due at the same time. */
const LEADS = 2000
/** Enough time to start all workflows before their score updates are due. */
const STARTING_MS = 20_000 + LEADS * 60
/** Leads of another partner, whose milestones are measured. */
const OTHERS = 60
const PER_SECOND = 5
const CALM_SECONDS = 20
const MOST_SECONDS = 600

/**
 * A worker starts and finds two thousand score updates due. Measures how fast it makes them, and how they delay another
 * partner’s new milestones; the floor is a worker that starts and finds nothing due.
 */
export async function burst(): Promise<Row[]> {
  const sides = await startSides()
  const { service } = sides
  const others = await service.begin(OTHERS)
  const partner = await sides.addPartner()
  await sides.stopWorker()
  await sides.startWorker()
  const calm = await atRate(service, others, { perSecond: PER_SECOND, seconds: CALM_SECONDS })
  const dueAt = Date.now() + STARTING_MS
  const anchor = new Date(dueAt - SCORE_PERIOD_MS)
  const given = { anchor_at: anchor, onboarding: 'sent' as const, onboarding_at: anchor }
  const leads = await sides.beginFor(partner, LEADS, given)
  if (Date.now() > dueAt) throw new Error('the workflows were not started in time')
  await sides.stopWorker()
  await delay(Math.max(0, dueAt - Date.now()))
  const over = new AbortController()
  const updated = Promise.all(leads.map((lead) => service.called(lead))).finally(() => over.abort())
  await sides.startWorker()
  const began = performance.now()
  const load = atRate(service, others, {
    perSecond: PER_SECOND,
    seconds: MOST_SECONDS,
    isOver: () => over.signal.aborted,
  })
  await updated
  const perSecond = (LEADS * 1000) / (performance.now() - began)
  const busy = await load
  await sides.verify()
  const row = (share: number): Row => ({
    work: `milestone → webhook at ${PER_SECOND}/s beside a burst, p${share * 100}`,
    unit: 'ms',
    floor: [percentile(calm, share)],
    service: [percentile(busy, share)],
  })
  return [
    { work: `${LEADS} score updates due at once, to the last webhook`, unit: '/s', service: [perSecond] },
    row(0.5),
    row(0.95),
  ]
}
