import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'

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
