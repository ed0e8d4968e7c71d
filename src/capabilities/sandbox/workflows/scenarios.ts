import type { Client, WorkflowHandle } from '@temporalio/client'
import type { scenario, ScenarioEnd } from '../../../../workflows/sandbox/scenario.ts'
import { admitScenarios, isWaiting, type RequestedScenario } from '../statements/sandbox-runs.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { scenarioId } from '../decisions/scenarios.ts'
import { isEnded } from '../../../core/temporal/ended.ts'
import { inBatches } from '../../../core/temporal/in-batches.ts'
import { TASK_QUEUE } from '../../../core/temporal/names.ts'
import { isTimeUp } from '../../../core/temporal/time-up.ts'

/** How long an answer waits for a scenario. */
const WAIT_MS = 10_000

type Handle = WorkflowHandle<typeof scenario>

export interface Scenarios {
  /**
   * Starts the scenarios that a partner has requested, as far as it has places for them. Others wait in the record until
   * the sweep starts them.
   */
  startWaiting: (partnerId: number) => Promise<void>
  /** The same, not awaited and never rejected. */
  offer(partnerId: number): void
  /** Starts a lead's scenario, which is requested, and waits for its end, ten seconds at most: `running`. */
  run(partnerId: number, leadId: number): Promise<ScenarioEnd | 'running'>
}

interface Dependencies {
  client: Client
  sql: Sql
  /** Called when one could not be started: the sweep starts it. */
  onFailure: (error: unknown, partnerId: number) => void
}

/** The one way in which scenarios are started. */
export function createScenarios({ client, sql, onFailure }: Dependencies): Scenarios {
  /** Started twice, it is played once: by what the record says. */
  async function start({ id, leadId, scenario: name }: RequestedScenario): Promise<Handle> {
    return client.workflow.start<typeof scenario>('scenario', {
      workflowId: scenarioId(leadId),
      taskQueue: TASK_QUEUE,
      args: [leadId, name, id],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: `Scenario ${name} of lead ${leadId}`,
    })
  }

  async function startAll(partnerId: number): Promise<Map<number, Handle>> {
    const handles = new Map<number, Handle>()
    for (const requested of await admitScenarios(sql, partnerId))
      handles.set(requested.leadId, await start(requested))
    return handles
  }

  async function endOf(handle: Handle): Promise<ScenarioEnd | 'running'> {
    try {
      return await handle.result()
    } catch (error) {
      if (isTimeUp(error)) return 'running'
      // its lead was closed or erased meanwhile, or an operator ended it
      if (isEnded(error)) return 'closed'
      throw error
    }
  }

  const startWaiting = async (partnerId: number) =>
    client.withDeadline(Date.now() + WAIT_MS, async () => void (await startAll(partnerId)))
  // at most one call at a time for each partner: what is requested meanwhile is started by the next one
  const startInTurn = inBatches(startWaiting)

  async function run(partnerId: number, leadId: number): Promise<ScenarioEnd | 'running'> {
    let handles: Map<number, Handle>
    try {
      handles = await startAll(partnerId)
    } catch (error) {
      onFailure(error, partnerId)
      return 'running'
    }
    const started = handles.get(leadId)
    if (started !== undefined) return endOf(started)
    // it waits for its place, or another request has started it
    return (await isWaiting(sql, leadId)) ? 'running' : endOf(client.workflow.getHandle(scenarioId(leadId)))
  }

  return {
    startWaiting,
    offer: (partnerId) =>
      void startInTurn(partnerId, null).catch((error: unknown) => onFailure(error, partnerId)),
    run: async (partnerId, leadId) => client.withDeadline(Date.now() + WAIT_MS, () => run(partnerId, leadId)),
  }
}
