import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { AttemptTrigger } from '../src/core/deliveries/decisions/delivery.ts'
import { createPlaces } from '../src/core/deliveries/places.ts'
import { createLeaseJudge, type MayTake } from '../src/core/deliveries/statements/lease.ts'
import type { StartedAttempt } from '../src/core/deliveries/statements/new-attempt.ts'
import type { Sent } from '../src/core/leads/decisions/referral.ts'
import { workflowFields } from './log-fields.ts'
import { type AttemptDependencies, type AttemptMade, makeAttempt } from './make-attempt.ts'

/** How long an activity waits for the answer to a first attempt. The request continues after that. */
const WAIT_MS = 1000

export type Attempts = ReturnType<typeof createAttempts>

interface Options {
  waitMs?: number
  monotonicMs?: () => number
}

/**
 * The attempts of a process: all of its requests to endpoints are begun here, each in one of its partner's places, and known
 * while they are under way.
 */
export function createAttempts(
  dependencies: AttemptDependencies & { log: Pick<Logger, 'info' | 'warn'> },
  { waitMs = WAIT_MS, monotonicMs }: Options = {},
) {
  const places = createPlaces()
  const judge = createLeaseJudge(monotonicMs)
  const underWay = new Map<string, Promise<AttemptMade>>()

  async function run(started: StartedAttempt, asked: AttemptTrigger, key: string): Promise<AttemptMade> {
    const { partnerId } = started
    try {
      const made = await makeAttempt(dependencies, started, asked)
      places.answered(partnerId, made.outcome)
      return made
    } finally {
      underWay.delete(key)
      places.giveBack(partnerId)
    }
  }

  function make(started: StartedAttempt, asked: AttemptTrigger): Promise<AttemptMade> {
    const key = keyOf(started.leadId, started.sequence)
    const making = run(started, asked, key)
    underWay.set(key, making)
    // whoever began it may not wait for it any more
    making.catch(() => {})
    return making
  }

  /** What comes of `work` in the time for which an activity waits, and `otherwise` after it. */
  const inTime = <Result>(work: Promise<Result>, otherwise: Result): Promise<Result> =>
    Promise.race([work, delay(waitMs, otherwise, { ref: false })])

  return {
    inTime,

    /**
     * Begins an attempt in one of the partner's places, and makes the one that `begin` has `started`, if it has.
     *
     * @returns `undefined` if there is no place.
     */
    async begin<Begun extends object | undefined>(
      partnerId: number,
      asked: AttemptTrigger,
      begin: () => Promise<Begun>,
    ): Promise<{ begun: Begun; making?: Promise<AttemptMade> } | undefined> {
      if (!places.take(partnerId)) return undefined
      try {
        const begun = await begin()
        const { started }: { started?: StartedAttempt } = begun ?? {}
        if (started !== undefined) return { begun, making: make(started, asked) }
        places.giveBack(partnerId)
        return { begun }
      } catch (error) {
        places.giveBack(partnerId)
        throw error
      }
    },

    /** How long until the turn of one that found no place is likely, in milliseconds. */
    turnAwayMs: (partnerId: number) => places.turnAwayMs(partnerId),

    /** Whether the lease of a delivery may be taken: never while this process has a request of it. */
    mayTake:
      (leadId: number, sequence: number): MayTake =>
      (lease) =>
        judge(lease) && !underWay.has(keyOf(leadId, sequence)),

    /**
     * How a first attempt ended, if it has in time. It never rejects: what came of the attempt is in the record, and
     * `deliverWebhook` continues from there.
     */
    async sent(making: Promise<AttemptMade>, { leadId, sequence }: StartedAttempt): Promise<Sent> {
      const sending = making.then(
        ({ end, retry, reason }): Sent => {
          if (end === 'delivered') return { delivered: sequence }
          return retry === undefined ? {} : { failure: { sequence, failures: retry.failures, reason } }
        },
        (err: unknown): Sent => {
          const fields = { err, lead_id: leadId, ...workflowFields() }
          dependencies.log.warn(fields, 'a first attempt did not come to its end')
          return {}
        },
      )
      return inTime(sending, {})
    },

    /** Resolves once no request of this process for that webhook is under way. */
    async ended(leadId: number, sequence: number): Promise<void> {
      await underWay.get(keyOf(leadId, sequence))?.catch(() => {})
    },

    /** Resolves once none is. */
    async settled(): Promise<void> {
      await Promise.allSettled(underWay.values())
    },
  }
}

const keyOf = (leadId: number, sequence: number) => `${leadId}/${sequence}`
