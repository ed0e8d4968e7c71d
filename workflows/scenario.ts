import {
  executeChild,
  setCurrentDetails,
  setDefaultSignalHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow'
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common'
import { advanceId } from '../src/domain/lead-clock.ts'
import { type ScenarioName, scenarios, type Step } from '../src/domain/scenarios.ts'
import { DAY_MS } from '../src/domain/score-dates.ts'
import { dropOut, readClock, simulateMilestones } from './activities.ts'
import type { advance } from './advance.ts'

/** `stopped`: the endpoint refuses for so long that production would pause it. `closed`: the lead was closed. */
export type ScenarioEnd = 'done' | 'stopped' | 'closed'

/**
 * Plays a scenario with a lead, in a sandbox: id `scenario-<lead_id>`. It does what a tester would do: simulates
 * milestones, and advances the lead's clock.
 */
export async function scenario(leadId: number, name: ScenarioName): Promise<ScenarioEnd> {
  setDefaultSignalHandler(() => {})
  const steps: readonly Step[] = scenarios[name].steps
  for (const [index, step] of steps.entries()) {
    setCurrentDetails(`Scenario **${name}** of lead ${leadId}: step ${index + 1} of ${steps.length}`)
    const end = await take(leadId, step, index)
    if (end !== undefined) return end
  }
  setCurrentDetails(`Scenario **${name}** of lead ${leadId}: all ${steps.length} steps are done`)
  return 'done'
}

async function take(leadId: number, step: Step, index: number): Promise<ScenarioEnd | undefined> {
  if ('days' in step) return advanceBy(leadId, step.days)
  if ('drops_out' in step) {
    await dropOut(leadId, step.drops_out)
    return undefined
  }
  const { happens: name, times = 1, gains } = step
  const events = Array.from({ length: times }, () => ({
    name,
    ...(gains && { gains }),
  }))
  const summary = times === 1 ? name : `${name} × ${times}`
  // a scenario that is played again makes its own chats
  const key = `${workflowInfo().firstExecutionRunId}:${index}`
  const answer = await simulateMilestones.executeWithOptions({ summary }, [leadId, { key, events }])
  return answer === 'closed' ? 'closed' : undefined
}

/** Waits while somebody else moves the lead's clock. */
async function advanceBy(leadId: number, days: number): Promise<ScenarioEnd | undefined> {
  for (;;) {
    const clock = await readClock(leadId)
    if (clock === null) return 'closed'
    const args: Parameters<typeof advance> = [leadId, clock.now + days * DAY_MS, clock.since]
    try {
      const { stopped } = await executeChild<typeof advance>('advance', {
        workflowId: advanceId(leadId),
        args,
      })
      return stopped === undefined ? undefined : 'stopped'
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      await sleep('1 second')
    }
  }
}
