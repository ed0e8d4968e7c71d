import type { Sql } from '../database/sql.ts'
import type { Environment } from '../values.ts'
import type { WebhookBody } from '../webhooks/body.ts'

/** What most routes work with: each picks what it needs, and names what else it does. */
export interface RouteDependencies {
  environment: Environment
  sql: Sql
  encryptionKeys: readonly Buffer[]
  webhookBody: WebhookBody
  /** The file of the erasure log; absent in a sandbox without one. */
  erasureLog: string | undefined
}
