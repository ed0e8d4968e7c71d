import { setTimeout as delay } from 'node:timers/promises'
import { type Client, isGrpcServiceError } from '@temporalio/client'
import type { Logger } from 'pino'
import type { TemporalSettings } from '../config.ts'
import type { NamespaceGuard } from './namespace-guard.ts'
import { unreachable, unusableNamespace } from './remedies.ts'

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
  const isOver = async () =>
    Date.now() - retriedAt >= quietMs &&
    (await reach().then(
      () => true,
      () => false,
    ))
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
const CALL_LIMIT_MS = 2000
const MEANWHILE = 'Leads are taken meanwhile, and their workflows start later.'

interface Answer {
  isOver: boolean
  /** What to do, if that is not said elsewhere. */
  remedy?: string
}

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
  const { log, signal } = options
  const begun = performance.now()
  let isSaid = false
  while (!signal.aborted) {
    const { isOver, remedy } = await askOnce(options)
    if (isOver) {
      if (isSaid) log.info('Temporal answers: workflows are started')
      return
    }
    if (remedy !== undefined && !isSaid && !signal.aborted && performance.now() - begun > PATIENCE_MS) {
      log.warn(`${remedy}. ${MEANWHILE}`)
      isSaid = true
    }
    await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined)
  }
}

async function askOnce({ client, guard, temporal, signal }: FirstAnswerOptions): Promise<Answer> {
  const { connection, workflowService } = client
  const call = () => connection.withAbortSignal(signal, () => workflowService.getSystemInfo({}))
  try {
    await connection.withDeadline(Date.now() + CALL_LIMIT_MS, call)
  } catch (error) {
    return { isOver: false, ...(!signal.aborted && { remedy: await unreachable(temporal, error) }) }
  }
  try {
    await guard()
    return { isOver: true }
  } catch (error) {
    // that PostgreSQL is away, or the namespace another deployment's, is logged where it is found
    return {
      isOver: false,
      ...(isGrpcServiceError(error) && { remedy: unusableNamespace(temporal.namespace, error) }),
    }
  }
}
