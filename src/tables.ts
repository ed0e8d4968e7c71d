import type { InferKyselyDB } from '@mikro-orm/postgresql'
import type { Generated } from 'kysely'
import { ApiKey } from './core/partners/tables/api-key.ts'
import { Attempt } from './core/deliveries/tables/attempt.ts'
import { AuditEntry } from './core/audit/tables/audit-entry.ts'
import { Delivery } from './core/deliveries/tables/delivery.ts'
import { Deployment } from './core/record/tables/deployment.ts'
import { EncryptionKey } from './core/sealing/tables/encryption-key.ts'
import { EndpointSecret } from './core/endpoints/tables/endpoint-secret.ts'
import { Endpoint } from './core/endpoints/tables/endpoint.ts'
import { Export } from './capabilities/access/tables/export.ts'
import { IdempotencyKey } from './core/idempotency/tables/idempotency-key.ts'
import { LeadEvent } from './core/leads/tables/lead-event.ts'
import { Lead } from './core/leads/tables/lead.ts'
import { Notice } from './core/endpoints/tables/notice.ts'
import { OnboardingMail } from './core/leads/tables/onboarding-mail.ts'
import { Partner } from './core/partners/tables/partner.ts'
import { RetentionRun } from './core/database/tables/retention-run.ts'
import { Sink } from './capabilities/sandbox/tables/sink.ts'
import { SinkWebhook } from './capabilities/sandbox/tables/sink-webhook.ts'

export const entities = [
  Partner,
  ApiKey,
  Endpoint,
  EndpointSecret,
  Lead,
  LeadEvent,
  Delivery,
  Attempt,
  IdempotencyKey,
  Export,
  OnboardingMail,
  Notice,
  AuditEntry,
  Deployment,
  Sink,
  SinkWebhook,
  EncryptionKey,
  RetentionRun,
] as const

type Inferred = InferKyselyDB<(typeof entities)[number]>

/** The tables as the entities define them; what PostgreSQL gives, and an insert leaves out, is not known as such. */
export type Tables = Omit<Inferred, keyof Given> & {
  [Table in keyof Given & keyof Inferred]: Omit<Inferred[Table], Given[Table]> & {
    [Column in Given[Table]]: Generated<Inferred[Table][Column & keyof Inferred[Table]]>
  }
}
interface Given {
  leads: 'id'
  endpoint_secrets: 'id'
  audit: 'id'
  sink_webhooks: 'id'
}
