import { setTimeout as delay } from 'node:timers/promises'
import {
  Client,
  type CompiledWorkflowOptions,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
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

/** A line in the log for each workflow that the process asks Temporal to start, whatever asks for it. */
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
 * another deployment.
 *
 * @param options with `log`, each start has a line there.
 */
export function createTemporalClient(
  { connectionOptions, namespace }: TemporalSettings,
  options: GuardOptions & { log?: Pick<Logger, 'info' | 'warn' | 'error'> },
): { client: Client; guard: NamespaceGuard } {
  const connection = connectLazily(connectionOptions)
  const guard = createNamespaceGuard(connection, namespace, options)
  const logged = options.log === undefined ? [] : [loggedStarts(options.log)]
  const { workflow, schedule } = guardedCalls(guard)
  const interceptors = { workflow: [...workflow, ...logged], schedule }
  return { client: new Client({ connection, namespace, interceptors }), guard }
}

/**
 * The SDK repeats a call by a timer, which throws where nobody catches it if the connection is closed by then. So this one
 * repeats nothing once it is being closed, and waits for the timers that are set.
 */
function connectLazily(options: TemporalSettings['connectionOptions']): Connection {
  const usual = defaultGrpcRetryOptions()
  let isClosing = false
  let lastRetryAt = 0
  const retry = makeGrpcRetryInterceptor({
    retryableDecider: (...call) => !isClosing && usual.retryableDecider(...call),
    delayFunction: (...call) => {
      const delayMs = usual.delayFunction(...call)
      lastRetryAt = Math.max(lastRetryAt, performance.now() + delayMs)
      return delayMs
    },
  })
  const connection = Connection.lazy({ ...options, interceptors: [retry] })
  const close = connection.close.bind(connection)
  return Object.assign(connection, {
    close: async () => {
      isClosing = true
      await delay(Math.max(0, lastRetryAt - performance.now() + 1))
      await close()
    },
  })
}
