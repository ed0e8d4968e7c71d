import { HOUR_MS } from '../../../../core/values/durations.ts'

/** What happens to a call that a fault is injected into, in the words of the reference. */
export const callFaults = {
  rate_limited: 'the call answers 429, with `Retry-After` and what is left of the limit',
  internal_error: 'the call answers 500',
  unavailable: 'the call answers 503, with `Retry-After`',
  hangs: 'the call is not carried out, and its connection ends without an answer after 30 seconds',
  answer_lost: 'the call is carried out, and its connection ends without an answer',
  key_expired: 'a call whose `Idempotency-Key` is known is carried out as if its 24 hours were over',
} as const

/** What happens elsewhere. */
export const otherFaults = {
  no_scores:
    'the score provider has no scores for a score update that is due: it is left out, and the next one comes at its own date',
} as const

export type CallFault = keyof typeof callFaults
export type FaultName = CallFault | keyof typeof otherFaults

const callFaultNames = Object.keys(callFaults) as CallFault[]
export const faultNames = [...callFaultNames, ...(Object.keys(otherFaults) as (keyof typeof otherFaults)[])]

/** Those that say when to come back. */
export const retryingFaults: readonly FaultName[] = ['rate_limited', 'unavailable']

/** What a sink does instead of answering at once and as a whole. */
export const sinkFaults = {
  resets: 'resets the connection, and answers nothing',
  answers_half: 'announces its whole answer, and ends the connection after half of it',
  answers_slowly: 'sends its answer a byte a second, which takes longer than our time limit',
} as const

export type SinkFault = keyof typeof sinkFaults
export const sinkFaultNames = Object.keys(sinkFaults) as SinkFault[]

/** Whoever forgets a fault finds the sandbox as it was. */
export const FAULT_ENDS_AFTER_MS = HOUR_MS

/** How long a call hangs, and how many of a partner hang at a time, in each process of the API. */
export const HANGS_MS = 30_000
export const MOST_HANGING = 2

/** How many of the calls that a fault happened to are shown, newest first. */
export const MOST_SHOWN = 20
