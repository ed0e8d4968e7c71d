import { ApplicationFailure, condition, setHandler } from '@temporalio/workflow'
import { parseScoreGains } from '../src/domain/event-payloads.ts'
import { MOST_SIMULATED } from '../src/domain/lead-clock.ts'
import { milestones, signalledMilestones } from '../src/domain/milestones.ts'
import type { MilestoneItem } from '../src/domain/referral.ts'
import { isRecord } from './arguments.ts'
import type { Journey } from './journey.ts'
import { LEAD_CLOSED, type MilestoneAnswer, type SimulateRequest, simulateUpdate } from './messages.ts'
import { showSoon } from './show.ts'
import { takeAnswer } from './standing.ts'

/** Milestones that a partner simulates in a sandbox: recorded as others are, answered once all are. */
export function receiveSimulations(journey: Journey): void {
  setHandler(simulateUpdate, (request) => simulate(journey, request), {
    validator: (request: unknown) => validate(journey, request),
    description:
      'Sandbox only. Milestones in their order. Argument: {"key": "…", "events": [{"name": "contract_signed"}]}',
  })
}

/** @throws {Error} what the sender did wrong; of type `LEAD_CLOSED` if the lead takes no more milestones. */
function validate({ closed, state }: Journey, request: unknown): void {
  if (closed || state.closing) throw ApplicationFailure.nonRetryable('The lead is closed.', LEAD_CLOSED)
  if (!isSimulation(request)) throw new Error('The argument is {"key": "…", "events": [{"name": …}, …]}.')
}

function isSimulation(request: unknown): request is SimulateRequest {
  if (!isRecord(request) || typeof request.key !== 'string' || !Array.isArray(request.events)) return false
  const { events } = request
  return events.length > 0 && events.length <= MOST_SIMULATED && events.every(isMilestone)
}

function isMilestone(event: unknown): boolean {
  if (!isRecord(event) || !signalledMilestones.some((name) => name === event.name)) return false
  return event.gains === undefined || parseScoreGains(event.gains) !== undefined
}

async function simulate(journey: Journey, { key, events }: SimulateRequest): Promise<MilestoneAnswer[]> {
  const { awaited, inbox } = journey
  // the server allows a run 2,000 updates and 10,000 signals
  journey.messages += 2
  journey.counts.received += events.length
  const items = events.map((event, index) => itemOf(event, key, index))
  for (const item of items) awaited.set(item, undefined)
  inbox.push(...items)
  showSoon(journey)
  await condition(() => items.every((item) => awaited.get(item) !== undefined))
  return items.map((item) => takeAnswer(journey, item))
}

/** A signal's own id has no space, so a simulated milestone's key is no other's. */
function itemOf(
  { name, gains }: SimulateRequest['events'][number],
  key: string,
  index: number,
): MilestoneItem {
  const dedupeKey = milestones[name].once ? name : `${name}: simulated ${key}:${index}`
  if (name !== 'score_update') return { name, dedupeKey }
  return gains === undefined ? { name, dedupeKey, mock: true } : { name, dedupeKey, gains }
}
