import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { OpenedWith, Opening } from '../src/db/leads/recording.ts'
import type { DeliveryFailure, Recording } from '../src/domain/referral.ts'
import { LEASE_MS } from '../src/domain/delivery.ts'
import { type AttemptDependencies, attemptTools, makeAttempt } from './make-attempt.ts'

/** How long a recording waits for the endpoint's answer. The request goes on after that. */
const WAIT_MS = 1000

export type FirstAttempts = ReturnType<typeof createFirstAttempts>
type First = NonNullable<OpenedWith['first']>

/**
 * Makes the first attempt at a webhook right after its recording, in the recording's activity: a webhook that is taken at
 * once needs no activity of its own. One for all of a process, which knows the requests that are under way.
 *
 * @param places how many activities may wait for endpoints in this way at a time.
 */
export function createFirstAttempts(
  dependencies: AttemptDependencies & { log: Pick<Logger, 'warn'> },
  { places, waitMs = WAIT_MS }: { places: number; waitMs?: number },
) {
  const tools = attemptTools(dependencies.encryptionKeys)
  const underWay = new Map<string, Promise<unknown>>()
  let waiting = 0

  async function attempt({
    started,
    sequence,
    partnerId,
  }: First): Promise<Pick<Recording, 'delivered' | 'failure'>> {
    const { end, retry, reason } = await makeAttempt(dependencies, started, {
      partnerId,
      trigger: 'scheduled',
      until: started.beganAt + LEASE_MS,
    })
    if (end === 'delivered') return { delivered: sequence }
    const failure: DeliveryFailure | undefined = retry && { sequence, failures: retry.failures, reason }
    return failure === undefined ? {} : { failure }
  }

  return {
    /**
     * Records with `record`, which opens the attempt, and makes it.
     *
     * @param after the sequence up to which all of the lead's webhooks are settled; `undefined`: only records.
     * @returns with how the attempt ended, if it has by then. It never rejects because of the attempt: what came of that
     *   is in the record, and `deliverWebhook` goes on from there.
     */
    async record(
      leadId: number,
      after: number | undefined,
      record: (opening?: Opening) => Promise<OpenedWith | undefined>,
    ): Promise<Recording | undefined> {
      if (after === undefined || waiting >= places) return (await record())?.recording
      waiting += 1
      try {
        const recorded = await record({ ...tools, after })
        if (recorded?.first === undefined) return recorded?.recording
        const key = `${leadId}/${recorded.first.sequence}`
        const attempting = attempt(recorded.first)
          .catch((err: unknown) => {
            dependencies.log.warn({ err, lead_id: leadId }, 'a first attempt did not come to its end')
            return {}
          })
          .finally(() => underWay.delete(key))
        underWay.set(key, attempting)
        const ended = await Promise.race([attempting, delay(waitMs, {}, { ref: false })])
        return { ...recorded.recording, ...ended }
      } finally {
        waiting -= 1
      }
    },

    /** Resolves once no request of this process for that webhook is under way. */
    async ended(leadId: number, sequence: number): Promise<void> {
      await underWay.get(`${leadId}/${sequence}`)
    },

    /** Resolves once none is. */
    async settled(): Promise<void> {
      await Promise.all(underWay.values())
    },
  }
}
