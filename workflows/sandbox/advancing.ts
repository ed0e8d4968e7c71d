import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineUpdate,
  ParentClosePolicy,
  setHandler,
  sleep,
  startChild,
} from '@temporalio/workflow'
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common'
import {
  ADVANCE_UPDATE,
  advanceId,
  type AdvanceRequest,
  describeAdvance,
  type Passed,
} from '../../src/capabilities/sandbox/decisions/lead-clock.ts'
import { type KnownRecord, scoreUpdateKey } from '../../src/core/leads/decisions/referral.ts'
import { passDates } from './activities.ts'
import type { advance } from './advance.ts'
import { isRecord, readOffset } from '../arguments.ts'
import type { SignalHandler } from '../inbox.ts'
import { hasUnrecorded, type Journey } from '../journey.ts'
import { clockMovedSignal } from '../messages.ts'
import { publishSoon } from '../publish.ts'
import { applyRecording, knownRecord, settledUpTo } from '../standing.ts'

/** Whether the clock is there; if not, the workflow `advance` moves it further. */
export interface AdvanceAnswer {
  hasArrived: boolean
}

const advanceUpdate = defineUpdate<AdvanceAnswer, [AdvanceRequest]>(ADVANCE_UPDATE)

/** How long it waits for what is under way, before the workflow `advance` does. */
const PATIENCE = '1 second'

/** An advance of the lead's clock. What has to be waited for is left to a workflow of its own. */
export function receiveAdvances(journey: Journey): void {
  let isMoving = false
  const move = async (request: AdvanceRequest) => {
    isMoving = true
    try {
      return await CancellationScope.nonCancellable(() => moveTo(journey, request))
    } finally {
      isMoving = false
      publishSoon(journey)
    }
  }
  setHandler(advanceUpdate, move, {
    validator: (request: unknown) => {
      if (isMoving || !isAdvance(request) || isStuck(journey))
        throw ApplicationFailure.nonRetryable('not now', 'NotNow')
    },
    description: 'From the service itself, in a sandbox: moves the lead’s clock',
  })
}

/** The signal of whatever else moves the clock, which goes forward only. */
export const clockSignal = (journey: Journey): SignalHandler => ({
  signal: clockMovedSignal,
  description: 'From the service itself, in a sandbox: the lead’s clock was moved',
  act: (argument) => {
    const offset = readOffset(argument)
    if (offset === undefined) journey.recordChanged = true
    else journey.state.offset = Math.max(journey.state.offset, offset)
  },
})

/** Ends once the clock is there, or the workflow `advance` has begun to move it. */
async function moveTo(journey: Journey, request: AdvanceRequest): Promise<AdvanceAnswer> {
  const { leadId } = journey.state
  // the server allows a run 2,000 updates and 10,000 signals
  journey.messages += 2
  for (let goesOn = true; goesOn;) {
    const isOver = () => isClear(journey) || isStuck(journey)
    // a timer that is not needed costs, too
    if (!isOver()) await condition(isOver, PATIENCE)
    const settled = settledUpTo(journey)
    if (settled === undefined || !isClear(journey)) break
    const known = knownRecord(journey)
    const summary = describeAdvance(leadId, request.target)
    const passed = await passDates.executeWithOptions({ summary }, [leadId, request.target, settled, known])
    goesOn = apply(journey, passed, known) && passed.updates.length > 0
    if (passed.hasArrived) return { hasArrived: true }
  }
  await leaveToWorkflow(leadId, request)
  return { hasArrived: false }
}

/** @returns false if the record is not the one that this workflow knows. */
function apply(journey: Journey, { updates, offset }: Passed, known: KnownRecord): boolean {
  const { state } = journey
  state.offset = Math.max(state.offset, offset)
  for (const { period, recording } of updates) {
    const item = { name: 'score_update' as const, dedupeKey: scoreUpdateKey(period) }
    if (!applyRecording(journey, recording, [item], known)) return false
    state.period = Math.max(state.period, period + 1)
  }
  return true
}

/** Waits while a scenario moves the clock. */
async function leaveToWorkflow(leadId: number, { target, since }: AdvanceRequest): Promise<void> {
  const args: Parameters<typeof advance> = [leadId, target, since]
  for (;;) {
    try {
      await startChild<typeof advance>('advance', {
        workflowId: advanceId(leadId),
        args,
        parentClosePolicy: ParentClosePolicy.ABANDON,
        staticSummary: `The clock of lead ${leadId}`,
      })
      return
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      await sleep('1 second')
    }
  }
}

/** Whether nothing is open or under way. */
function isClear(journey: Journey): boolean {
  const { state, phases } = journey
  const isQuiet = phases.inbox === 'idle' && phases.webhooks === 'idle' && phases.cadence !== 'asking'
  return isQuiet && state.next > state.last && !hasUnrecorded(journey) && !isStuck(journey)
}

/** Whether it has to be waited for. */
function isStuck({ phases, state }: Journey): boolean {
  return (
    phases.lead !== 'open' ||
    phases.record !== 'known' ||
    phases.webhooks === 'held' ||
    state.failure !== null
  )
}

function isAdvance(request: unknown): request is AdvanceRequest {
  if (!isRecord(request) || !isRecord(request.since)) return false
  const { target, since } = request
  return Number.isSafeInteger(target) && Number.isSafeInteger(since.position) && typeof since.at === 'string'
}
