import { setTimeout as delay } from 'node:timers/promises'
import { type Client, isGrpcServiceError } from '@temporalio/client'
import type { Logger } from 'pino'
import type { TemporalSettings } from '../config.ts'
import { reasonOf } from '../fail.ts'
import { reachTemporal } from './client.ts'
import type { NamespaceGuard } from './namespace-guard.ts'

// What to do about a Temporal that cannot be used, in one line: the same in each program that meets it.

export function unreachable(
  { connectionOptions: { address, tls } }: TemporalSettings,
  error: unknown,
): string {
  const spoken = tls
    ? 'TLS, by TEMPORAL_TLS or a certificate or key for it'
    : 'plain text, without TEMPORAL_TLS'
  return `Temporal does not answer at ${address}: start it, or correct TEMPORAL_ADDRESS; it was asked in ${spoken} (${reasonOf(error)})`
}

export const setUpNamespace = 'Run npm run setup-temporal, or set TEMPORAL_NAMESPACE'

export function unusableNamespace(namespace: string, error: unknown): string {
  return `Temporal’s namespace ${namespace} cannot be used: ${reasonOf(error)}. ${setUpNamespace}`
}

/** The SDK tries again every ten seconds at least. */
const QUIET_MS = 30_000

/**
 * Temporal's SDK writes a line for each retry of each of its calls, several a second. Of an outage, our log has one line at its
 * start and one at its end; the others have the level `debug`.
 *
 * @param quietMs how long no call may be retried before Temporal is asked whether the outage is over.
 */
export function watchOutage(log: Pick<Logger, 'debug' | 'info' | 'warn'>, quietMs = QUIET_MS) {
  let since: Date | undefined
  let retriedAt = 0
  let reach = async (): Promise<unknown> => undefined
  const isOver = () =>
    Date.now() - retriedAt >= quietMs &&
    reach().then(
      () => true,
      () => false,
    )
  const untilOver = async () => {
    while (!(await isOver())) await delay(quietMs / 6, undefined, { ref: false })
    log.info({ since }, 'Temporal answers the worker again')
    since = undefined
  }
  return {
    /** @param ask rejects while Temporal does not answer. */
    askWith(ask: () => Promise<unknown>): void {
      reach = ask
    },
    /** A line of the SDK about a call that failed again. */
    retried(facts: object, message: string): void {
      retriedAt = Date.now()
      if (since !== undefined) return log.debug(facts, message)
      since = new Date()
      log.warn(facts, 'Temporal does not answer the worker; it tries again until Temporal does')
      void untilOver()
    },
  }
}

export type TemporalOutage = ReturnType<typeof watchOutage>

/** Temporal may be starting too. */
const PATIENCE_MS = 10_000
const PAUSE_MS = 2000

interface FirstAnswerOptions {
  client: Client
  guard: NamespaceGuard
  temporal: TemporalSettings
  log: Pick<Logger, 'info' | 'warn'>
  /** Ends it. */
  signal: AbortSignal
}

/**
 * Says in the log, once, that Temporal cannot be used, and once that it can; then it is over. The API starts without
 * Temporal, because the record leads: a wrong setting would show only as leads that get no workflow.
 */
export async function watchFirstAnswer(options: FirstAnswerOptions): Promise<void> {
  const { client, guard, temporal, log, signal } = options
  const begun = performance.now()
  let isSaid = false
  const say = (remedy: string) => {
    if (isSaid || signal.aborted || performance.now() - begun < PATIENCE_MS) return
    log.warn(`${remedy}. Leads are taken meanwhile, and their workflows start later.`)
    isSaid = true
  }
  while (!signal.aborted) {
    const isReached = await reachTemporal(client).then(
      () => true,
      (error: unknown) => say(unreachable(temporal, error)),
    )
    const isOurs = isReached && (await guard().then(() => true, sayUnusable))
    if (isOurs) break
    await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined)
  }
  if (isSaid && !signal.aborted) log.info('Temporal answers: workflows are started')

  // that PostgreSQL is away, or the namespace another deployment's, is logged where it is found
  function sayUnusable(error: unknown): void {
    if (isGrpcServiceError(error)) say(unusableNamespace(temporal.namespace, error))
  }
}
