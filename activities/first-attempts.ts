import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { StartedAttempt } from '../src/core/deliveries/statements/new-attempt.ts'
import type { Sent } from '../src/core/leads/decisions/referral.ts'
import { workflowFields } from './log-fields.ts'
import { type AttemptDependencies, makeAttempt } from './make-attempt.ts'

/** How long an activity waits for the endpoint's answer. The request continues after that. */
const WAIT_MS = 1000

export type FirstAttempts = ReturnType<typeof createFirstAttempts>

/**
 * Makes the first attempt at a webhook in the activity that has begun it, a recording or a lead's welcome: a webhook that
 * is taken at once needs no activity of its own. One for all of a process, which knows the requests that are under way.
 */
export function createFirstAttempts(
  dependencies: AttemptDependencies & { log: Pick<Logger, 'info' | 'warn'> },
  { waitMs = WAIT_MS }: { waitMs?: number } = {},
) {
  const underWay = new Map<string, Promise<Sent>>()

  async function attempt(started: StartedAttempt): Promise<Sent> {
    const { end, retry, reason } = await makeAttempt(dependencies, started, 'scheduled')
    const { sequence } = started
    if (end === 'delivered') return { delivered: sequence }
    return retry === undefined ? {} : { failure: { sequence, failures: retry.failures, reason } }
  }

  /** What comes of `work` in the time for which an activity waits, and `otherwise` after it. */
  const inTime = <Result>(work: Promise<Result>, otherwise: Result): Promise<Result> =>
    Promise.race([work, delay(waitMs, otherwise, { ref: false })])

  return {
    inTime,

    /**
     * Makes an attempt that is open, and answers how it ended, if it has in time. It never rejects: what came of the
     * attempt is in the record, and `deliverWebhook` continues from there.
     */
    async make(started: StartedAttempt): Promise<Sent> {
      const { leadId, sequence } = started
      const key = keyOf(leadId, sequence)
      const making = attempt(started)
        .catch((err: unknown): Sent => {
          dependencies.log.warn(
            { err, lead_id: leadId, ...workflowFields() },
            'a first attempt did not come to its end',
          )
          return {}
        })
        .finally(() => {
          // a later attempt may have begun, once this one's lease was over
          if (underWay.get(key) === making) underWay.delete(key)
        })
      underWay.set(key, making)
      return inTime(making, {})
    },

    /** Resolves once no request of this process for that webhook is under way. */
    async ended(leadId: number, sequence: number): Promise<void> {
      await underWay.get(keyOf(leadId, sequence))
    },

    /** Resolves once none is. */
    async settled(): Promise<void> {
      await Promise.all(underWay.values())
    },
  }
}

const keyOf = (leadId: number, sequence: number) => `${leadId}/${sequence}`
