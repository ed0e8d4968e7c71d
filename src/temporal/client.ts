import { setTimeout as delay } from 'node:timers/promises'
import {
  Client,
  type CompiledWorkflowOptions,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type WorkflowClientInterceptor,
} from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import type { Logger } from 'pino'
import type { TemporalSettings } from '../config.ts'
import { leadOf } from './names.ts'
import {
  createNamespaceGuard,
  guardedCalls,
  type GuardOptions,
  type NamespaceGuard,
} from './namespace-guard.ts'
import { attributeKeys } from './search-attributes.ts'

interface Started {
  workflowType: string
  options: Pick<CompiledWorkflowOptions, 'workflowId' | 'memo' | 'typedSearchAttributes'>
}

/** A line in the log for each workflow that the process asks Temporal to start, whatever asks for it. */
function loggedStarts(log: Pick<Logger, 'info'>): WorkflowClientInterceptor {
  async function logged<Output>(
    call: 'start' | 'signal_with_start' | 'update_with_start',
    { workflowType, options: { workflowId, memo, typedSearchAttributes: attributes } }: Started,
    work: Promise<Output>,
    runOf: (output: Output) => string,
  ): Promise<Output> {
    const began = performance.now()
    const tell = (outcome: { outcome: 'running' | 'failed'; run_id?: string }) => {
      const fields = {
        partner_id:
          attributes instanceof TypedSearchAttributes ? attributes.get(attributeKeys.PartnerId) : undefined,
        lead_id: leadOf(workflowId),
        workflow_id: workflowId,
        workflow_type: workflowType,
        call,
        ...outcome,
        duration_ms: Math.round((performance.now() - began) * 10) / 10,
        request_id: memo?.request_id,
      }
      log.info(fields, 'start')
    }
    try {
      const output = await work
      tell({ outcome: 'running', run_id: runOf(output) })
      return output
    } catch (error) {
      tell({ outcome: 'failed' })
      throw error
    }
  }
  return {
    startWithDetails: async (input, next) => logged('start', input, next(input), ({ runId }) => runId),
    signalWithStart: async (input, next) => logged('signal_with_start', input, next(input), String),
    async startUpdateWithStart(input, next) {
      const { workflowType, workflowStartOptions: options } = input
      const runOf = (output: Awaited<ReturnType<typeof next>>) => output.workflowExecution.runId ?? ''
      return logged('update_with_start', { workflowType, options }, next(input), runOf)
    },
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
