import type { Config } from '../config.ts'
import { type AuditedAction, recordAudit } from '../db/audit.ts'
import { remembered, requireDeployment } from '../db/deployment.ts'
import { lackingKeys } from '../db/encryption-keys.ts'
import { backgroundPatience } from '../db/mikro-orm.config.ts'
import { connect, type Em, type Sql, sqlIn, sqlOf } from '../db/orm.ts'
import { createClocks } from '../temporal/clocks.ts'
import { createTemporalClient, type TemporalSettings } from '../temporal/client.ts'
import { createEndpointRequests } from '../temporal/endpoint-requests.ts'
import { createEndpointStarter } from '../temporal/endpoints.ts'
import { createReferrals } from '../temporal/referrals.ts'
import { createResendStarter } from '../temporal/resend.ts'
import type { Answer } from './answer.ts'
import { failureOf, Refusal } from './refusal.ts'

/** Whoever typed a command learns after this long that Temporal does not answer. */
const TEMPORAL_LIMIT_MS = 3000

/** A transaction: what it writes and its audit row are committed together. */
interface Change {
  em: Em
  sql: Sql
  audit: (action: AuditedAction) => Promise<void>
}

/** What an action answers, and what its audit row adds to the action's `detail`. */
interface Acted<Result> {
  result: Result
  detail?: Record<string, unknown>
}

/** What the commands work with. */
export type StaffContext = Awaited<ReturnType<typeof openContext>>

/** Makes a command's action out of what the command does; `Args` are what commander passes on. */
export type Run = <Args extends unknown[]>(
  act: (context: StaffContext, ...args: Args) => Promise<Answer>,
) => (...args: Args) => Promise<void>

/**
 * Connects to nothing before it is used.
 *
 * @param actor who acts, for the audit.
 */
export async function openContext(config: Config<'staff'>, temporal: TemporalSettings, actor: string) {
  const orm = await connect(config.DATABASE_URL, backgroundPatience)
  const sql = sqlOf(orm)
  /** The deployment's id; rejects when the database is of the other environment. */
  const deployment = remembered(() => requireDeployment(sql, config.ENVIRONMENT))
  const { client, guard } = createTemporalClient(temporal, { deployment })
  return {
    config,
    sql,
    deployment,
    /** For whatever seals or opens; rejects when a key is missing under which data is stored. */
    encryptionKeys: async (): Promise<readonly Buffer[]> => {
      const remedy = await lackingKeys(sql, config.ENCRYPTION_KEY)
      if (remedy !== undefined) throw new Refusal(remedy)
      return config.ENCRYPTION_KEY
    },
    /** Rejects when the Temporal namespace is another deployment's. Calls about one workflow check that themselves. */
    requireOwnNamespace: guard,
    /** Runs `work` in one transaction, in which nothing but PostgreSQL is called. */
    change: <Result>(work: (change: Change) => Promise<Result>): Promise<Result> =>
      orm.em.fork().transactional(async (em) => {
        const trx = sqlIn(em)
        const audit = async (action: AuditedAction) =>
          void (await recordAudit(trx, actor, { ...action, outcome: 'done' }))
        return work({ em, sql: trx, audit })
      }),
    /** Runs `work` that takes more than one transaction, between two audit rows. */
    act: <Result>(action: AuditedAction, work: () => Promise<Acted<Result>>): Promise<Result> =>
      betweenAuditRows(sql, actor, action, work),
    client,
    referrals: createReferrals({ client, sql, callLimitMs: TEMPORAL_LIMIT_MS }),
    clocks: createClocks({ client, sql }),
    startEndpoint: createEndpointStarter(client),
    startResends: createResendStarter(client),
    endpointRequests: createEndpointRequests(client),
    temporal: { address: temporal.connectionOptions.address, namespace: temporal.namespace },
    close: async () => void (await Promise.all([client.connection.close(), orm.close()])),
  }
}

/**
 * The second row is missing where the command was killed, or PostgreSQL was away at its end. A failure to write it is
 * no failure of the command: the action has taken effect.
 */
async function betweenAuditRows<Result>(
  sql: Sql,
  actor: string,
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
