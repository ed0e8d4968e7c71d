import { type ActingFrom, type AuditedAction, recordAudit } from '../audit.ts'
import type { Config, TemporalSettings } from '../config.ts'
import { remembered, requireDeployment } from '../database/deployment.ts'
import { backgroundPatience, connect, type Orm } from '../database/orm.ts'
import { type Em, type Sql, sqlIn, sqlOf } from '../database/sql.ts'
import { createResends } from '../deliveries/resends.ts'
import { createEndpointStarter } from '../endpoints/endpoint-workflows.ts'
import { createReferrals } from '../leads/referrals.ts'
import { compareKeys, lackingKeys } from '../seal.ts'
import { createTemporalClient } from '../temporal/client.ts'
import type { Answer, Printed } from './answer.ts'
import { failureOf, Refusal } from './refusal.ts'

/** Who acts, and where. */
export type Actor = { name: string } & ActingFrom

/** A transaction: what it writes and its audit row are committed together. */
interface Change {
  em: Em
  sql: Sql
  /** Notes what is done. */
  audit: (action: AuditedAction) => Promise<void>
}

/** What an action answers, and what its audit row adds to the action's `detail`. */
interface Acted<Result> {
  result: Result
  detail?: Record<string, unknown>
}

/** How commands do something, or show borrowers, with its rows in the audit. The first row is written before anything is done, so a login without the right to is refused. */
function createActing(orm: Orm, actor: Actor) {
  const sql = sqlOf(orm)
  return {
    /** Runs `work` in one transaction, in which nothing but PostgreSQL is called. */
    change: async <Result>(work: (change: Change) => Promise<Result>): Promise<Result> => {
      return orm.em.fork().transactional(async (em) => {
        const trx = sqlIn(em)
        const audit = async (action: AuditedAction) =>
          void (await recordAudit(trx, actor, { ...action, outcome: 'done' }))
        return work({ em, sql: trx, audit })
      })
    },
    /** Runs `work` that takes more than one transaction, between two audit rows. */
    act: async <Result>(action: AuditedAction, work: () => Promise<Acted<Result>>): Promise<Result> => {
      return betweenAuditRows(sql, actor, action, work)
    },
    /** Writes down that borrowers were looked at, before they are shown. */
    recordLook: async (action: AuditedAction): Promise<void> => {
      await recordAudit(sql, actor, { ...action, outcome: 'done' })
    },
  }
}

/**
 * The second row is missing where the command was killed, or PostgreSQL was away at its end. A failure to write it is
 * no failure of the command: the action has taken effect.
 */
async function betweenAuditRows<Result>(
  sql: Sql,
  actor: Actor,
  action: AuditedAction,
  work: () => Promise<Acted<Result>>,
): Promise<Result> {
  const begunId = await recordAudit(sql, actor, { ...action, outcome: 'begun' })
  const end = async (outcome: 'done' | 'failed' | 'unknown', detail: Record<string, unknown> = {}) => {
    const row = { ...action, outcome, begunId, detail: { ...action.detail, ...detail } }
    await recordAudit(sql, actor, row).catch(() => undefined)
  }
  try {
    const { result, detail } = await work()
    await end('done', detail)
    return result
  } catch (error) {
    const { outcome, reason } = failureOf(error)
    await end(outcome, { failure: reason })
    throw error
  }
}

/** After this long, a command says that Temporal does not answer. */
const TEMPORAL_LIMIT_MS = 3000

const NO_KEY =
  'ENCRYPTION_KEY is not set: this command reads or writes what is encrypted. Set it as API and worker have it; see docs/settings.md.'

/** Staff may be the first to have a key that the processes lack, which could not read what it seals. */
export const notYetInUse = (key: string) =>
  `No API or worker has ${key} as its newest key yet: give it to all of them first, and restart them. See docs/operations/keys.md, "Replace the encryption key".`

/** Of a command; most use one. */
const CONNECTIONS = 4

/** What the commands work with. */
export type StaffContext = Awaited<ReturnType<typeof openContext>>

/** Makes a command's action out of what the command does; `Args` are what commander passes on. */
export type Run = <Args extends unknown[]>(
  act: (context: StaffContext, ...args: Args) => Promise<Answer | Printed>,
) => (...args: Args) => Promise<void>

/**
 * Connects to nothing before it is used.
 *
 * @param actor who acts, for the audit.
 */
export async function openContext(config: Config<'staff'>, temporal: TemporalSettings, actor: Actor) {
  const orm = await connect(config.DATABASE_URL, backgroundPatience, { connections: CONNECTIONS })
  const sql = sqlOf(orm)
  /** The deployment's id; rejects when the database is of the other environment. */
  const deployment = remembered(() => requireDeployment(sql, config.ENVIRONMENT))
  const { client, guard } = createTemporalClient(temporal, { deployment })
  /** Those of ENCRYPTION_KEY, whatever data is stored under. */
  const ownKeys = (): readonly Buffer[] => {
    if (config.ENCRYPTION_KEY === undefined) throw new Refusal(NO_KEY)
    return config.ENCRYPTION_KEY
  }
  return {
    config,
    sql,
    actor,
    deployment,
    ownKeys,
    /** For whatever opens; rejects when a key is missing under which data is stored. */
    openingKeys: async (): Promise<readonly Buffer[]> => {
      const { remedy } = await compareKeys(sql, ownKeys())
      if (remedy !== undefined) throw new Refusal(remedy)
      return ownKeys()
    },
    /** For whatever seals, too: it needs a key that API and worker have, or the first of all. */
    encryptionKeys: async (): Promise<readonly Buffer[]> => {
      const { unknown, isFirst } = await compareKeys(sql, ownKeys())
      if (unknown !== undefined && isFirst !== true) throw new Refusal(notYetInUse(unknown))
      const remedy = await lackingKeys(sql, ownKeys())
      if (remedy !== undefined) throw new Refusal(remedy)
      return ownKeys()
    },
    /** Rejects when the Temporal namespace is another deployment's. Calls about one workflow check that themselves. */
    requireOwnNamespace: guard,
    ...createActing(orm, actor),
    client,
    referrals: createReferrals({ client, sql, callLimitMs: TEMPORAL_LIMIT_MS }),
    startEndpoint: createEndpointStarter(client),
    resends: createResends(client),
    temporal: {
      address: temporal.connectionOptions.address,
      namespace: temporal.namespace,
      certificates: certificatesOf(temporal),
    },
    close: async () => void (await Promise.all([client.connection.close(), orm.close()])),
  }
}

/** Those that the connection to Temporal needs, in PEM. */
function certificatesOf({ connectionOptions: { tls } }: TemporalSettings): { name: string; pem: Buffer }[] {
  if (typeof tls !== 'object' || tls === null) return []
  const pems = {
    'of the client at Temporal': tls.clientCertPair?.crt,
    'of Temporal’s authority': tls.serverRootCACertificate,
  }
  return Object.entries(pems).flatMap(([name, pem]) => (pem ? [{ name, pem: Buffer.from(pem) }] : []))
}
