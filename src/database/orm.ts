import type { Socket } from 'node:net'
import { Migrator } from '@mikro-orm/migrations'
import { defineConfig, type InferKyselyDB, MikroORM } from '@mikro-orm/postgresql'
import type { Generated } from 'kysely'
import { AuditEntry } from '../audit.ts'
import { Attempt } from '../deliveries/attempt.ts'
import { Delivery } from '../deliveries/delivery.ts'
import { Endpoint } from '../endpoints/endpoint.ts'
import { Notice } from '../endpoints/notices.ts'
import { EndpointSecret } from '../endpoints/secrets.ts'
import { IdempotencyKey } from '../http/idempotency.ts'
import { Lead, LeadEvent } from '../leads/lead.ts'
import { ApiKey } from '../partners/keys.ts'
import { Partner } from '../partners/partner.ts'
import { Sink, SinkWebhook } from '../sandbox/sink.ts'
import { EncryptionKey } from '../seal.ts'
import { Deployment } from './deployment.ts'

const entities = [
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
  Deployment,
  Sink,
  SinkWebhook,
  EncryptionKey,
] as const

/** PostgreSQL gives a row its number; the entities' types do not say that an insert may leave it out. */
type Numbered<Row> = Row extends { id: number } ? Omit<Row, 'id'> & { id: Generated<number> } : Row
type Inferred = InferKyselyDB<(typeof entities)[number]>
export type Tables = { [Table in keyof Inferred]: Numbered<Inferred[Table]> }

/** How long to wait for PostgreSQL, each in milliseconds; without a limit where none is given. */
export interface Patience {
  connectMs: number
  /** For a lock that another session holds. */
  lockMs?: number
  /** The limit of a statement, with its waits for locks; longer than `lockMs`, whose error is clearer. */
  statementMs?: number
  /** For the next statement of a transaction: a process that vanishes keeps its locks no longer. */
  idleInTransactionMs?: number
  /** How long a connection may be silent; longer than `statementMs`, which keeps the connection. */
  silenceMs?: number
}

const idleInTransactionMs = 10_000

/** How long each program waits. */
export const patience = {
  /** If PostgreSQL is slow or down, partners get SERVICE_UNAVAILABLE within two seconds. */
  api: { connectMs: 1000, lockMs: 1000, statementMs: 1200, idleInTransactionMs, silenceMs: 1500 },
  worker: { connectMs: 2000, lockMs: 5000, statementMs: 15_000, idleInTransactionMs, silenceMs: 17_000 },
  /** Their statements may take a while, but a network that swallows packets is noticed. */
  staff: { connectMs: 2000, lockMs: 5000, idleInTransactionMs, silenceMs: 15_000 },
  /** A statement that changes a table waits for all that use it, and whatever comes after waits for that statement. */
  migrate: { connectMs: 2000, lockMs: 3000 },
} satisfies Record<string, Patience>

/** With it, PostgreSQL detects a dead client in 25 s. `options` in DATABASE_URL take its place. */
const KEEPALIVE =
  '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=25000'

interface PostgresClient {
  query: (statement: unknown, ...rest: unknown[]) => unknown
  connection: { stream: Socket }
}

interface PostgresPool {
  options: { types: { setTypeParser(type: number, parse: (text: string) => Date | number): void } }
  on(event: 'connect' | 'acquire', listener: (client: PostgresClient) => void): void
  on(event: 'release', listener: (error: unknown, client: PostgresClient) => void): void
}

const TIMESTAMPTZ = 1184
const INT8 = 20

/** Typed SQL wants values as they are; ids and counts stay below 2^53. */
function parseValues({ options: { types } }: PostgresPool): void {
  types.setTypeParser(TIMESTAMPTZ, (text) => new Date(text))
  types.setTypeParser(INT8, Number)
}

/** Uses in this process after which a statement gets a name. */
const USES = 5
/** Texts that may get one, the first that are used. PostgreSQL keeps each, with its plan, for each connection. */
const MOST_TEXTS = 200
/** A statement that selects whole rows: PostgreSQL refuses its prepared form once the table gets another column. */
const WHOLE_ROWS = /"\.\*|select \*/

/**
 * Sends statements that are used again and again by a name, so that PostgreSQL parses each once for a connection. That saves
 * a quarter of the processor time of a request.
 */
function nameStatements(pool: PostgresPool): void {
  const known = new Map<string, { name: string; uses: number }>()
  function nameOf(text: string): string | undefined {
    const found = known.get(text) ?? { name: `s${known.size}`, uses: 0 }
    if (found.uses === 0 && (known.size === MOST_TEXTS || WHOLE_ROWS.test(text))) return undefined
    known.set(text, found)
    found.uses += 1
    return found.uses >= USES ? found.name : undefined
  }
  pool.on('connect', (client) => {
    const query = client.query.bind(client)
    client.query = (text, values, ...rest) => {
      const name = typeof text === 'string' && Array.isArray(values) ? nameOf(text) : undefined
      return name === undefined ? query(text, values, ...rest) : query({ name, text, values }, ...rest)
    }
  })
}

/**
 * Drops a connection that is in use and silent for `silenceMs`. Behind a network that swallows packets it would keep its
 * statement, and its place in the pool, for a quarter of an hour.
 */
function dropSilent(pool: PostgresPool, silenceMs: number): void {
  pool.on('connect', ({ connection: { stream } }) =>
    stream.on('timeout', () => {
      const { bytesRead } = stream
      // what came while this process itself was held up is read first
      setImmediate(() => {
        if (stream.bytesRead === bytesRead)
          stream.destroy(Object.assign(new Error('PostgreSQL says nothing'), { code: 'ETIMEDOUT' }))
      })
    }),
  )
  pool.on('acquire', ({ connection }) => connection.stream.setTimeout(silenceMs))
  pool.on('release', (_error, { connection }) => connection.stream.setTimeout(0))
}

/** A server that is still recovering answers reads from what it has so far: leads would be unknown. */
async function requireRecovered(client: { query: (text: string) => Promise<{ rows: unknown[] }> }) {
  const { rows } = await client.query('select where pg_is_in_recovery()')
  if (rows.length > 0) throw Object.assign(new Error('PostgreSQL is still recovering'), { code: '57P03' })
}

/** Connects lazily: the first query opens the first connection. `connections` is the most that it opens. */
export async function connect(databaseUrl: string, limits: Patience = { connectMs: 2000 }, connections = 20) {
  const options = defineConfig({
    clientUrl: databaseUrl,
    entities: [...entities],
    extensions: [Migrator],
    forceUtcTimezone: true,
    // a missing database is an error, and asking for it would delay the first query
    ensureDatabase: false,
    migrations: { path: `${import.meta.dirname}/migrations`, snapshot: false, silent: true },
    // triggers, routines, keys, checks and indexes are in the migration alone
    schemaGenerator: { ignoreTriggers: true, ignoreRoutines: true },
    pool: { min: 0, max: connections },
    driverOptions: {
      // MikroORM leaves out the URL's query, and `sslmode` with it
      connectionString: databaseUrl,
      options: KEEPALIVE,
      connectionTimeoutMillis: limits.connectMs,
      lock_timeout: limits.lockMs,
      statement_timeout: limits.statementMs,
      idle_in_transaction_session_timeout: limits.idleInTransactionMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      // a connection is not handed out before this has succeeded
      verify: (client: Parameters<typeof requireRecovered>[0], done: (error?: Error) => void) =>
        void requireRecovered(client).then(() => done(), done),
      onPoolCreated: (pool: PostgresPool) => {
        parseValues(pool)
        nameStatements(pool)
        if (limits.silenceMs !== undefined) dropSilent(pool, limits.silenceMs)
      },
    },
  })
  return MikroORM.init(options)
}

export type Orm = Awaited<ReturnType<typeof connect>>
