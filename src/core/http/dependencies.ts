import type { Environment } from '../values/environment.ts'
import type { Sql } from '../database/orm.ts'
import type { ResendWebhook } from '../deliveries/workflows/resend.ts'
import type { Companion } from '../leads/companion.ts'
import type { PendingClosing } from '../leads/statements/pending-closing.ts'
import type { ReferralState } from '../leads/decisions/referral.ts'
import type { WebhookBody } from '../leads/statements/new-lead.ts'

/** What the routes of the core work with: each picks what it needs. */
export interface RouteDependencies {
  environment: Environment
  sql: Sql
  encryptionKeys: readonly Buffer[]
  webhookBody: WebhookBody
  startReferral: (state: ReferralState) => void
  /** Starts an endpoint's workflow, without waiting; if that fails, the sweep does. */
  startEndpoint: (endpointId: number) => void
  resendWebhook: ResendWebhook
  /** What comes with some leads. */
  companion?: Companion | undefined
  /** What get-lead shows of a closing that waits. */
  pendingClosing?: PendingClosing
}
