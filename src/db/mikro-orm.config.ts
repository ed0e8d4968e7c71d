import { defineConfig } from '@mikro-orm/postgresql'
import { Migrator } from '@mikro-orm/migrations'
import { ApiKey } from './entities/api-key.ts'
import { Attempt } from './entities/attempt.ts'
import { AuditEntry } from './entities/audit-entry.ts'
import { Delivery } from './entities/delivery.ts'
import { EndpointSecret } from './entities/endpoint-secret.ts'
import { Endpoint } from './entities/endpoint.ts'
import { IdempotencyKey } from './entities/idempotency-key.ts'
import { LeadEvent } from './entities/lead-event.ts'
import { Lead } from './entities/lead.ts'
import { Notice } from './entities/notice.ts'
import { Partner } from './entities/partner.ts'

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
  Notice,
  AuditEntry,
] as const

export function ormOptions(databaseUrl: string) {
  return defineConfig({
    clientUrl: databaseUrl,
    entities: [...entities],
    extensions: [Migrator],
    forceUtcTimezone: true,
    migrations: { path: `${import.meta.dirname}/migrations`, snapshot: false, silent: true },
  })
}
