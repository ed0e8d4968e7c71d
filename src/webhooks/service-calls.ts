import type { Environment } from '../domain/environment.ts'

/** Types of calls that are no events: no lead is in them. */
export const PING_TYPE = 'endpoint.ping'
export const CERTIFICATION_TYPE = 'endpoint.certification'
/** One that no receiver can know. */
export const UNKNOWN_TYPE = 'endpoint.certification.unknown_type'

/** The body of a call that is no event: Standard Webhooks' `{type, timestamp, data}`. */
export function serviceCallBody(
  type: string,
  at: Date,
  data: { partner_id: number; environment: Environment },
): string {
  return JSON.stringify({ type, timestamp: `${at.toISOString().slice(0, 19)}Z`, data })
}
