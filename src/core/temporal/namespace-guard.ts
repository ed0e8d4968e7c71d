import { setTimeout as delay } from 'node:timers/promises'
import type { Connection, ScheduleClientInterceptor, WorkflowClientInterceptor } from '@temporalio/client'
import type { Logger } from 'pino'
import { claimNamespace, OtherDeployment } from './namespace-claim.ts'

/** How long an answer is cached. */
const FRESH_MS = 60_000
const CALL_LIMIT_MS = 2000

export interface GuardOptions {
  /** This deployment's id; rejects while the database is away. */
  deployment: () => Promise<string>
  log?: Pick<Logger, 'warn' | 'error'>
  freshMs?: number
}

/** Resolves when the namespace is this deployment's, and rejects when it is another's or cannot be asked. */
export type NamespaceGuard = () => Promise<void>

/** Asks Temporal at most once a minute, for all callers. Claims an unclaimed namespace. */
export function createNamespaceGuard(
  connection: Connection,
  namespace: string,
  { deployment, log, freshMs = FRESH_MS }: GuardOptions,
): NamespaceGuard {
  let checkedAt = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | undefined
  let said: string | undefined

  /** Logs a failure once, however many calls meet it. */
  function sayOnce(level: 'warn' | 'error', line: string): void {
    if (said !== line) log?.[level](line)
    said = line
  }

  async function check(): Promise<void> {
    const id = await deployment()
    const claim = () => claimNamespace(connection.workflowService, namespace, id)
    try {
      const outcome = await connection.withDeadline(Date.now() + CALL_LIMIT_MS, claim)
      if (outcome === 'unmarked') sayOnce('warn', unmarked(namespace))
      else said = undefined
    } catch (error) {
      if (error instanceof OtherDeployment) sayOnce('error', error.message)
      throw error
    }
    checkedAt = performance.now()
  }

  return async () => {
    if (performance.now() - checkedAt < freshMs) return
    checking ??= check().finally(() => (checking = undefined))
    await checking
  }
}

function unmarked(namespace: string): string {
  return `Temporal does not let this service mark the namespace ${namespace} as its own: no other deployment may use it.`
}

/** Makes every call about a workflow wait for the guard: none reaches another deployment's namespace. */
export function guardedCalls(guard: NamespaceGuard): {
  workflow: WorkflowClientInterceptor[]
  schedule: ScheduleClientInterceptor[]
} {
  const after = async <Input, Output>(
    input: Input,
    next: (input: Input) => Promise<Output>,
  ): Promise<Output> => {
    await guard()
    return next(input)
  }
  const workflow = {
    startWithDetails: after,
    signalWithStart: after,
    signal: after,
    startUpdate: after,
    startUpdateWithStart: after,
    query: after,
    describe: after,
    cancel: after,
    terminate: after,
  }
  return { workflow: [workflow], schedule: [{ create: after }] }
}

/** Calls `onLost` once the namespace has become another deployment's, unless `signal` aborts first. */
export async function watchNamespace(
  guard: NamespaceGuard,
  { signal, onLost, intervalMs = FRESH_MS }: { signal: AbortSignal; onLost: () => void; intervalMs?: number },
): Promise<void> {
  while (!signal.aborted) {
    const lost = await guard().catch((error: unknown) => error instanceof OtherDeployment)
    if (lost) return onLost()
    await delay(intervalMs, undefined, { signal }).catch(() => undefined)
  }
}
