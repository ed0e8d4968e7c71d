import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { beginAttempt } from '../src/core/deliveries/statements/begin-attempt.ts'
import type { StartedAttempt } from '../src/core/deliveries/statements/new-attempt.ts'
import type { Opening, Recorded } from '../src/core/leads/statements/recording.ts'
import type { Recording, Sent, SettledUpTo } from '../src/core/leads/decisions/referral.ts'
import { LEASE_MS } from '../src/core/deliveries/decisions/delivery.ts'
import { type AttemptDependencies, makeAttempt } from './make-attempt.ts'
import { createTurns } from './turns.ts'

/** How long a recording waits for others of its partner, which hold the lock on its endpoint. */
const TURN_MS = 250

/** How long a recording waits for the endpoint's answer. The request goes on after that. */
const WAIT_MS = 1000

export type FirstAttempts = ReturnType<typeof createFirstAttempts>

/**
 * Makes the first attempt at a webhook right after its recording, in the recording's activity: a webhook that is taken at
 * once needs no activity of its own. One for all of a process, which knows the requests that are under way.
 *
 * @param places how many activities may wait for endpoints in this way at a time.
 */
export function createFirstAttempts(
  dependencies: AttemptDependencies & { encryptionKeys: readonly Buffer[]; log: Pick<Logger, 'warn'> },
  { places, waitMs = WAIT_MS }: { places: number; waitMs?: number },
) {
  const { sql, gate, encryptionKeys, log } = dependencies
  const underWay = new Map<string, Promise<unknown>>()
  const inTurn = createTurns(TURN_MS)
  let waiting = 0

  async function attempt(started: StartedAttempt): Promise<Sent> {
    const until = started.beganAt + LEASE_MS
    const { end, retry, reason } = await makeAttempt(dependencies, started, { asked: 'scheduled', until })
    const { sequence } = started
    if (end === 'delivered') return { delivered: sequence }
    return retry === undefined ? {} : { failure: { sequence, failures: retry.failures, reason } }
  }

  async function send(started: StartedAttempt): Promise<Sent> {
    const { leadId, sequence } = started
    const key = `${leadId}/${sequence}`
    const attempting = attempt(started)
      .catch((err: unknown) => {
        log.warn({ err, lead_id: leadId }, 'a first attempt did not come to its end')
        return {}
      })
      .finally(() => underWay.delete(key))
    underWay.set(key, attempting)
    return Promise.race([attempting, delay(waitMs, {}, { ref: false })])
  }

  /** Does `work` in a place, and `otherwise` when there is none. */
  async function inPlace<Result>(
    work: () => Promise<Result>,
    otherwise: () => Promise<Result>,
  ): Promise<Result> {
    if (waiting >= places) return otherwise()
    waiting += 1
    try {
      return await work()
    } finally {
      waiting -= 1
    }
  }

  return {
    /** How long to wait for what need not be waited for. */
    waitMs,

    /**
     * Records with `record`, which opens the attempt, and makes it.
     *
     * @param settled whose lead it is, and the sequence up to which all of its webhooks are settled; `undefined`: only
     *   records.
     * @returns with how the attempt ended, if it has by then. It never rejects because of the attempt: what came of that
     *   is in the record, and `deliverWebhook` goes on from there.
     */
    async record(
      settled: SettledUpTo | undefined,
      record: (opening?: Opening) => Promise<Recorded | undefined>,
    ): Promise<Recording | undefined> {
      const only = async () => (await record())?.recording
      if (settled === undefined) return only()
      const { partnerId, after } = settled
      return inPlace(async () => {
        const open = () => record({ after, encryptionKeys })
        const recorded = await inTurn(partnerId, open, record)
        if (recorded?.started === undefined) return recorded?.recording
        return { ...recorded.recording, ...(await send(recorded.started)) }
      }, only)
    },

    /** Makes the first attempt at a lead's first webhook, if it can be made now. */
    async begin(leadId: number, partnerId: number): Promise<Sent> {
      return inPlace(
        async () => {
          const first = { leadId, sequence: 1, trigger: 'scheduled' as const }
          const begun = await gate.begin(partnerId, () => beginAttempt(sql, first, encryptionKeys))
          if (begun.kind === 'send') return send(begun)
          return begun.kind === 'settled' && begun.state !== 'pending' ? { delivered: 1 } : {}
        },
        async () => ({}),
      )
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
