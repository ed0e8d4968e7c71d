import {
  Client,
  type CompiledWorkflowOptions,
  Connection,
  type WorkflowClientInterceptor,
} from '@temporalio/client'
import type { Logger } from 'pino'
import type { TemporalSettings } from '../config.ts'
import { leadOf } from './names.ts'
import {
  createNamespaceGuard,
  guardedCalls,
  type GuardOptions,
  type NamespaceGuard,
} from './namespace-guard.ts'

type Started = Pick<CompiledWorkflowOptions, 'workflowId' | 'memo'>

/** Logs each workflow that the process asks Temporal to start. */
function loggedStarts(log: Pick<Logger, 'info'>): WorkflowClientInterceptor {
  async function logged<Output>(workflow_type: string, started: Started, work: Promise<Output>) {
    const { workflowId: workflow_id, memo } = started
    let outcome = 'failed'
    try {
      const output = await work
      outcome = 'running'
      return output
    } finally {
      const about = { lead_id: leadOf(workflow_id), workflow_id, workflow_type }
      log.info({ ...about, outcome, request_id: memo?.request_id }, 'start')
    }
  }
  return {
    startWithDetails: (input, next) => logged(input.workflowType, input.options, next(input)),
    signalWithStart: (input, next) => logged(input.workflowType, input.options, next(input)),
    startUpdateWithStart: (input, next) =>
      logged(input.workflowType, input.workflowStartOptions, next(input)),
  }
}

const REACH_LIMIT_MS = 1500

/** Rejects when Temporal does not answer in time. */
export async function reachTemporal({ connection }: Client): Promise<void> {
  await connection.withDeadline(Date.now() + REACH_LIMIT_MS, async () =>
    connection.workflowService.getSystemInfo({}),
  )
}

/**
 * A client that connects at the first call, and again whenever Temporal comes back. It touches no workflow of
 * another deployment. Its connection is never closed: when idle, it keeps no process running, and a retry on a closed one
 * makes the SDK throw where nobody can catch it.
 *
 * @param options with `log`, each start has a line there.
 */
export function createTemporalClient(
  { connectionOptions, namespace }: TemporalSettings,
  options: GuardOptions & { log?: Pick<Logger, 'info' | 'warn' | 'error'> },
): { client: Client; guard: NamespaceGuard } {
  const connection = Connection.lazy(connectionOptions)
  const guard = createNamespaceGuard(connection, namespace, options)
  const logged = options.log === undefined ? [] : [loggedStarts(options.log)]
  const { workflow, schedule } = guardedCalls(guard)
  const interceptors = { workflow: [...workflow, ...logged], schedule }
  return { client: new Client({ connection, namespace, interceptors }), guard }
}
