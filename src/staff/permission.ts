import { isDenied } from '../core/database/error-codes.ts'
import { Refusal } from './refusal.ts'

/** The error, with the role that the login needs if PostgreSQL denied it something. */
export function explainDenial(error: unknown): unknown {
  if (!(error instanceof Error && isDenied(error))) return error
  return new Refusal(
    `PostgreSQL: ${error.message}. Your login needs the role referrals_staff: grant referrals_staff to it`,
  )
}
