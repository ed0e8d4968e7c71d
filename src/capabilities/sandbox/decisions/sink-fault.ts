import { HOUR_MS } from '../../../core/values/durations.ts'

/** What a sink does instead of answering at once and as a whole. */
export const sinkFaults = {
  resets: 'resets the connection, and answers nothing',
  answers_half: 'announces its whole answer, and ends the connection after half of it',
  answers_slowly: 'sends its answer a byte a second, which takes longer than our time limit',
} as const

export type SinkFault = keyof typeof sinkFaults
export const sinkFaultNames = Object.keys(sinkFaults) as SinkFault[]

/** Whoever forgets what a sink was told finds it as it was. */
export const FAULT_ENDS_AFTER_MS = HOUR_MS
