import { Client, Connection } from '@temporalio/client'
import type { Logger } from 'pino'
import type { TemporalSettings } from '../../config.ts'
import { loggedStarts } from './logged-starts.ts'
import {
  createNamespaceGuard,
  guardedCalls,
  type GuardOptions,
  type NamespaceGuard,
} from './namespace-guard.ts'

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
  const connection = Connection.lazy(connectionOptions)
  const guard = createNamespaceGuard(connection, namespace, options)
  const logged = options.log === undefined ? [] : [loggedStarts(options.log)]
  const { workflow, schedule } = guardedCalls(guard)
  const interceptors = { workflow: [...workflow, ...logged], schedule }
  return { client: new Client({ connection, namespace, interceptors }), guard }
}
