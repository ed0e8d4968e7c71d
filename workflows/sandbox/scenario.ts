import {
  condition,
  executeChild,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow'
import {
  CancelledFailure,
  ChildWorkflowFailure,
  TerminatedFailure,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common'
import { advanceId } from '../../src/capabilities/sandbox/decisions/lead-clock.ts'
import {
  type ScenarioName,
  scenarios,
  type Step,
} from '../../src/capabilities/sandbox/decisions/scenarios.ts'
import { DAY_MS } from '../../src/core/values/durations.ts'
import { beginScenario, dropOut, endScenario, readClock, sendMilestones } from './activities.ts'
import type { advance } from './advance.ts'
import { isRecord } from '../arguments.ts'
import { type Played, playedSignal, type SimulateRequest } from '../messages.ts'

/**
 * `stopped`: the endpoint refuses for so long that production would pause it, the clock can be moved no further, or the lead
 * is full. `closed`: the lead was closed, or an operator ended the advance that the scenario waited for.
 */
export type ScenarioEnd = 'done' | 'stopped' | 'closed'

/** How long a scenario waits for its lead's answer before it sends the milestones again: first, and at most. */
const PATIENCE_MS = { first: 10_000, longest: 60_000 }

/** What a scenario holds in memory. */
interface Memory {
  leadId: number
  /** In the record. */
  id: number
  /** What the lead's workflow has answered, by key. */
  answers: Map<string, Played['end']>
}

/**
 * Plays a scenario with a lead, in a sandbox: id `scenario-<lead_id>`. It does what a tester would do: simulates
 * milestones, and advances the lead's clock.
 *
 * @param id of the scenario in the record, which knows whether it is still to be played.
 * @param from the step to continue with.
 */
export async function scenario(
  leadId: number,
  name: ScenarioName,
  id: number,
  from = 0,
): Promise<ScenarioEnd> {
  const memory = setup(leadId, id)
  if (!(await beginScenario(id))) return 'done'
  const steps: readonly Step[] = scenarios[name].steps
  let end: ScenarioEnd = 'done'
  for (const [index, step] of steps.entries()) {
    if (index < from) continue
    setCurrentDetails(`Scenario **${name}** of lead ${leadId}: step ${index + 1} of ${steps.length}`)
    const taken = await take(memory, step, index)
    if (taken === 'again') return makeContinueAsNewFunc<typeof scenario>()(leadId, name, id, index)
    end = taken
    if (end !== 'done') break
  }
  await endScenario(id)
  if (end === 'done')
    setCurrentDetails(`Scenario **${name}** of lead ${leadId}: all ${steps.length} steps are done`)
  return end
}

function setup(leadId: number, id: number): Memory {
  const answers: Memory['answers'] = new Map()
  setDefaultSignalHandler(() => {})
  setHandler(playedSignal, (answer) => {
    const { key, end } = isRecord(answer) ? answer : {}
    if (typeof key === 'string' && (end === 'recorded' || end === 'closed' || end === 'full'))
      answers.set(key, end)
  })
  return { leadId, id, answers }
}

/** `again`: this run has become long, and the next one takes the step. */
type Taken = ScenarioEnd | 'again'

async function take(memory: Memory, step: Step, index: number): Promise<Taken> {
  const { leadId, id } = memory
  if ('days' in step) return advanceBy(leadId, step.days)
  if ('drops_out' in step) {
    await dropOut(leadId, step.drops_out)
    return 'done'
  }
  const { happens: name, times = 1, gains } = step
  const events = Array.from({ length: times }, () => ({
    name,
    ...(gains && { gains }),
  }))
  const summary = times === 1 ? name : `${name} × ${times}`
  // a scenario that is played once more makes its own chats
  return play(memory, summary, { key: `${id}:${index}`, events })
}

/** What becomes of a scenario by the answer of its lead. */
const ends = { recorded: 'done', closed: 'closed', full: 'stopped' } as const satisfies Record<
  Played['end'],
  ScenarioEnd
>

/**
 * Sends milestones to the lead, and waits until its workflow says that they are recorded. An answer may never come: the
 * lead's workflow may be terminated, or start again from the record. So they are sent again, and count once by their key.
 */
async function play(
  { leadId, answers }: Memory,
  summary: string,
  milestones: SimulateRequest,
): Promise<Taken> {
  const { key } = milestones
  for (let waitMs = PATIENCE_MS.first; ; waitMs = Math.min(2 * waitMs, PATIENCE_MS.longest)) {
    const sent = await sendMilestones.executeWithOptions({ summary }, [leadId, milestones])
    if (sent === 'closed') return 'closed'
    await condition(() => answers.has(key), waitMs, { summary: `the lead records ${summary}` })
    const answer = answers.get(key)
    if (answer !== undefined) return ends[answer]
    if (workflowInfo().continueAsNewSuggested) return 'again'
  }
}

/** Waits while another advance moves the lead's clock. */
async function advanceBy(leadId: number, days: number): Promise<Taken> {
  while (!workflowInfo().continueAsNewSuggested) {
    const clock = await readClock(leadId)
    if (clock === null) return 'closed'
    const target = clock.now + days * DAY_MS
    if (target > clock.furthest) return 'stopped'
    const args: Parameters<typeof advance> = [leadId, target, clock.since]
    try {
      const { stopped } = await executeChild<typeof advance>('advance', {
        workflowId: advanceId(leadId),
        args,
      })
      return stopped === undefined ? 'done' : 'stopped'
    } catch (error) {
      if (wasEnded(error)) return 'closed'
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      await sleep('1 second')
    }
  }
  return 'again'
}

/** Whether an operator terminated or canceled the advance: then its scenario goes on no more. */
function wasEnded(error: unknown): boolean {
  if (!(error instanceof ChildWorkflowFailure)) return false
  return error.cause instanceof TerminatedFailure || error.cause instanceof CancelledFailure
}
