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

/** PostgreSQL's type timestamptz. */
const TIMESTAMPTZ = 1184

interface PostgresClient {
  setTypeParser(type: number, parse: (text: string) => Date): void
}

interface PostgresPool {
  on(event: 'connect', listener: (client: PostgresClient) => void): void
}

/** MikroORM reads moments as text and parses them in its entities; typed SQL wants them parsed at once. */
function parseMoments(pool: PostgresPool): void {
  pool.on('connect', (client) => client.setTypeParser(TIMESTAMPTZ, (text) => new Date(text)))
}

export function ormOptions(databaseUrl: string) {
  return defineConfig({
    clientUrl: databaseUrl,
    entities: [...entities],
    extensions: [Migrator],
    forceUtcTimezone: true,
    migrations: { path: `${import.meta.dirname}/migrations`, snapshot: false, silent: true },
    pool: { min: 0, max: 20 },
    driverOptions: {
      // a partner hears 503 in two seconds rather than waiting with us
      connectionTimeoutMillis: 2000,
      onPoolCreated: parseMoments,
    },
  })
}
