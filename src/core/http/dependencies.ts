import type { Environment } from '../values/environment.ts'
import type { Sql } from '../database/sql.ts'
import type { ResendWebhook } from '../deliveries/workflows/resend.ts'
import type { ReferralState } from '../leads/decisions/referral.ts'
import type { WebhookBody } from '../leads/statements/new-lead.ts'
import type { Referrals } from '../leads/workflows/referrals.ts'

/** What the routes of the core work with: each picks what it needs. */
export interface RouteDependencies {
  environment: Environment
  sql: Sql
  encryptionKeys: readonly Buffer[]
  webhookBody: WebhookBody
  startReferral: (state: ReferralState) => void
  closeLead: Referrals['close']
  /** Starts an endpoint's workflow, without waiting; if that fails, the comparison does. */
  startEndpoint: (endpointId: number) => void
  resendWebhook: ResendWebhook
}
