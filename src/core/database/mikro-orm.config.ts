import type { Socket } from 'node:net'
import path from 'node:path'
import { defineConfig } from '@mikro-orm/postgresql'
import { Migrator } from '@mikro-orm/migrations'
import { createStatementNames } from './named-statements.ts'
import { IDLE_IN_TRANSACTION_MS, type Patience, sessionOptions } from './session-options.ts'
import { entities } from '../../tables.ts'

export const migrationsFolder = `${import.meta.dirname}/migrations`

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

export function ormOptions(
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
