import type { Socket } from 'node:net'
import path from 'node:path'
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
import { LeadEvent } from '../leads/lead-event.ts'
import { Lead } from '../leads/lead.ts'
import { OnboardingMail } from '../leads/onboarding-mail.ts'
import { ApiKey } from '../partners/keys.ts'
import { Partner } from '../partners/partner.ts'
import { Sink, SinkWebhook } from '../sandbox/sink.ts'
import { EncryptionKey } from '../seal.ts'
import { Deployment } from './deployment.ts'
import { migrationsFolder } from './schema-version.ts'
import { IDLE_IN_TRANSACTION_MS, type Patience, sessionOptions } from './session-options.ts'

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
  OnboardingMail,
  Notice,
  AuditEntry,
  Deployment,
  Sink,
  SinkWebhook,
  EncryptionKey,
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
  endpoints: 'id'
  endpoint_secrets: 'id'
  audit: 'id'
  sink_webhooks: 'id'
}

/** Uses in this process after which a statement is worth a name. */
const USES = 5
/** PostgreSQL keeps each of them, with its plan, for each connection. */
const MOST_NAMES = 100
/** Statements that are counted; those of lists have a text for each length. */
const MOST_COUNTED = 1000

type Query = (statement: unknown, ...rest: unknown[]) => unknown

/**
 * Gives statements that are used again and again a name, by which PostgreSQL parses them once for each connection and, if
 * it finds that good enough, plans them once. It saves a quarter of the processor time of a request.
 *
 * One for all connections of a pool.
 */
function createStatementNames() {
  const uses = new Map<string, number>()
  const names = new Map<string, string>()

  function nameOf(text: string): string | undefined {
    const known = names.get(text)
    if (known !== undefined || names.size >= MOST_NAMES) return known
    const count = (uses.get(text) ?? 0) + 1
    if (count < USES) {
      if (uses.size >= MOST_COUNTED) uses.clear()
      uses.set(text, count)
      return undefined
    }
    uses.delete(text)
    const name = `s${names.size + 1}`
    names.set(text, name)
    return name
  }

  /** Has a client send its statements by their names. */
  return (client: { query: Query }): void => {
    const query = client.query.bind(client)
    client.query = (text, values, ...rest) => {
      if (typeof text !== 'string' || !Array.isArray(values)) return query(text, values, ...rest)
      const name = nameOf(text)
      if (name === undefined) return query(text, values, ...rest)
      return query({ name, text, values }, ...rest)
    }
  }
}

/** PostgreSQL's types timestamptz and bigint. */
const TIMESTAMPTZ = 1184
const INT8 = 20

interface PostgresClient {
  query: (statement: unknown, ...rest: unknown[]) => unknown
  setTypeParser(type: number, parse: (text: string) => Date | number): void
  connection: { stream: Socket }
}

/** What pg's pool says of itself. */
export interface Pool {
  totalCount: number
  idleCount: number
  waitingCount: number
}

interface PostgresPool extends Pool {
  on(event: 'connect' | 'acquire', listener: (client: PostgresClient) => void): void
  on(event: 'release', listener: (error: unknown, client: PostgresClient) => void): void
}

/**
 * MikroORM reads moments as text and parses them in its entities; typed SQL wants them parsed at once. Ids and counts
 * stay below 2^53.
 */
function parseValues(pool: PostgresPool): void {
  pool.on('connect', (client) => {
    client.setTypeParser(TIMESTAMPTZ, (text) => new Date(text))
    client.setTypeParser(INT8, Number)
  })
}

/**
 * Drops a connection that is in use and says nothing for `silenceMs`: behind a network that swallows packets
 * it would keep its statement, and its place in the pool, for a quarter of an hour.
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

/** For what is done to the database as a whole, which may take long, whatever limits its role has. */
const UNLIMITED: Patience = { connectMs: 2000, lockMs: 0, statementMs: 0, idleInTransactionMs: 0 }

/** Staff: their statements may take a while, but a network that swallows packets is noticed. */
export const backgroundPatience: Patience = {
  connectMs: 2000,
  lockMs: 5000,
  idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
  silenceMs: 15_000,
}

export const workerPatience: Patience = { ...backgroundPatience, statementMs: 15_000, silenceMs: 17_000 }

/** A peer that is silent for so long is asked whether it is still there. */
const KEEPALIVE_MS = 10_000

/** What of `pg`'s client is used: a connection on which nobody else works. */
interface Connection {
  query: (text: string) => Promise<{ rows: unknown[] }>
}

/** A server that still recovers answers reads with what it has by then, and would say that leads are unknown. */
async function requireRecovered(connection: Connection): Promise<void> {
  const { rows } = await connection.query('select where pg_is_in_recovery()')
  if (rows.length > 0) throw Object.assign(new Error('PostgreSQL is still recovering'), { code: '57P03' })
}

export interface PoolOptions {
  /** The most that it opens. */
  connections?: number
  /** Is told of the pool once it is made. */
  onPool?: (pool: Pool) => void
}

function ormOptions(
  databaseUrl: string,
  patience = UNLIMITED,
  { connections = 20, onPool }: PoolOptions = {},
) {
  const { connectMs, silenceMs } = patience
  return defineConfig({
    clientUrl: databaseUrl,
    entities: [...entities],
    extensions: [Migrator],
    forceUtcTimezone: true,
    // who made it decides where it is: one that is not there is an error, and nobody's first query waits for the question
    ensureDatabase: false,
    migrations: { path: migrationsFolder, snapshot: false, silent: true },
    // by name, which a bundle of the program finds, too
    dynamicImportProvider: async (file): Promise<unknown> =>
      import(`./migrations/${path.parse(file).name}.ts`),
    // they are in the migrations alone
    schemaGenerator: { ignoreTriggers: true, ignoreRoutines: true },
    pool: { min: 0, max: connections },
    driverOptions: {
      // with the query, and `sslmode` in it, which MikroORM leaves out
      ...sessionOptions(databaseUrl, patience),
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_MS,
      // a connection that is not handed out before this has succeeded
      verify: (client: Connection, done: (error?: Error) => void) =>
        void requireRecovered(client).then(() => done(), done),
      onPoolCreated: (pool: PostgresPool) => {
        parseValues(pool)
        pool.on('connect', createStatementNames())
        if (silenceMs !== undefined) dropSilent(pool, silenceMs)
        onPool?.(pool)
      },
    },
  })
}

/** Connections of a process. */
export interface PoolUse {
  used: number
  /** Statements that wait for one. */
  waiting: number
}

/** Connects lazily: the first query opens the first connection. */
export async function connect(databaseUrl: string, patience?: Patience, pool?: PoolOptions) {
  return MikroORM.init(ormOptions(databaseUrl, patience, pool))
}

export interface DatabaseSettings {
  DATABASE_URL: string
  DATABASE_POOL: number
}

/** As `connect`, for API and worker: with what is known of their connections. */
export async function connectCounted(settings: DatabaseSettings, patience: Patience) {
  const { DATABASE_URL, DATABASE_POOL: connections } = settings
  let pool: Pool | undefined
  const onPool = (made: Pool) => (pool = made)
  const orm = await connect(DATABASE_URL, patience, { connections, onPool })
  const poolUse = (): PoolUse => {
    const { totalCount = 0, idleCount = 0, waitingCount: waiting = 0 } = pool ?? {}
    return { used: totalCount - idleCount, waiting }
  }
  return { orm, poolUse }
}

export type Orm = Awaited<ReturnType<typeof connect>>
