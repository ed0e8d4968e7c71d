import { setTimeout as delay } from 'node:timers/promises'
import { type Client, isGrpcServiceError } from '@temporalio/client'
import type { Logger } from 'pino'
import type { TemporalSettings } from './config.ts'
import type { NamespaceGuard } from './core/temporal/namespace-guard.ts'
import { unreachable, unusableNamespace } from './temporal-remedies.ts'

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
    const { isOver, remedy } = await ask(options)
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

async function ask({ client, guard, temporal, signal }: FirstAnswerOptions): Promise<Answer> {
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
