import type { Environment } from '../values.ts'
import type { Sql } from '../database/sql.ts'
import type { Resender } from '../deliveries/resends.ts'
import type { ReferralState } from '../leads/referral-state.ts'
import type { WebhookBody } from '../leads/new-lead.ts'
import type { Referrals } from '../leads/referrals.ts'

/** What the routes of the core work with: each picks what it needs. */
export interface RouteDependencies {
  environment: Environment
  sql: Sql
  encryptionKeys: readonly Buffer[]
  webhookBody: WebhookBody
  startReferral: (state: ReferralState) => void
  closeLead: Referrals['close']
  /** Starts an endpoint's workflow, without waiting; if that fails, the comparison does. */
  startEndpoint: (partnerId: number) => void
  resendWebhook: Resender['resend']
}
