import type { Environment } from '../values.ts'
import type { Sql } from '../database/sql.ts'
import type { Resender } from '../deliveries/resends.ts'
import type { PingOutcome } from '../endpoints/endpoint-state.ts'
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
  /** What an endpoint's workflow does for its partner. Both reject while Temporal is away. */
  endpointRequests: {
    certify: (partnerId: number) => Promise<void>
    /** Sends a test request and waits for the answer; one that is under way is joined. */
    ping: (partnerId: number) => Promise<PingOutcome>
  }
  /** Allows endpoints at loopback and private addresses. */
  allowPrivateNetwork: boolean
  resendWebhook: Resender['resend']
  /** The file of the erasure log; absent in a sandbox without one. */
  erasureLog: string | undefined
}
