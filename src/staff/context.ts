import { type AuditedAction, recordAudit } from '../audit.ts'
import type { Config, TemporalSettings } from '../config.ts'
import { remembered, requireDeployment } from '../database/deployment.ts'
import { isDatabaseAway } from '../database/errors.ts'
import { connect, patience } from '../database/orm.ts'
import { type Sql, sqlOf } from '../database/sql.ts'
import { cancelOpen } from '../deliveries/delivery.ts'
import { createResender } from '../deliveries/resends.ts'
import { createEndpointStarter } from '../endpoints/endpoint-workflows.ts'
import { Refusal } from '../fail.ts'
import { createReferrals } from '../leads/referrals.ts'
import { keyId, keysInUse, lackingKeys, remedyFor } from '../seal.ts'
import { isTemporalAway } from '../temporal/away.ts'
import { createTemporalClient } from '../temporal/client.ts'
import type { Answer, Rows } from './answer.ts'

/** A transaction: what it writes and its audit row are committed together. */
interface Change {
  sql: Sql
  /** Notes what is done. */
  audit: (action: AuditedAction) => Promise<void>
}

/** What an action returns, and what its audit row adds to the action's `detail`. */
interface Acted<Result> {
  result: Result
  detail?: Record<string, unknown>
}

/** After this long, a command says that Temporal does not answer: longer than a workflow waits for the score provider. */
const TEMPORAL_LIMIT_MS = 12_000

const NO_KEY =
  'ENCRYPTION_KEY is not set: this command reads or writes encrypted data. Set it as API and worker have it; see docs/settings.md.'

/** Staff may have a key before the processes do, and these could not read what it seals. */
const notYetInUse = (key: string) =>
  `No API or worker has ${key} as its newest key yet: give it to all of them first, and restart them. See “Rotate the encryption key” in docs/operations.md.`

/** What the commands work with. */
export type StaffContext = Awaited<ReturnType<typeof openContext>>

/** Makes commander's action out of what the command does; `Args` are what commander passes on. */
export type Run = <Args extends unknown[]>(
  act: (context: StaffContext, ...args: Args) => Promise<Answer | Rows>,
) => (...args: Args) => Promise<void>

/**
 * Connects to nothing before it is used.
 *
 * @param actor who acts, for the audit.
 */
export async function openContext(config: Config<'staff'>, temporal: TemporalSettings, actor: string) {
  const orm = await connect(config.DATABASE_URL, patience.staff)
  const sql = sqlOf(orm)
  /** The deployment's id; rejects when the database is of the other environment. */
  const deployment = remembered(() => requireDeployment(sql, config.ENVIRONMENT))
  const { client, guard } = createTemporalClient(temporal, { deployment })
  const openingKeys = async (): Promise<readonly Buffer[]> => {
    const { ENCRYPTION_KEY: given } = config
    if (given === undefined) throw new Refusal(NO_KEY)
    const remedy = remedyFor(await keysInUse(sql), given)
    if (remedy !== undefined) throw new Refusal(remedy)
    return given
  }
  const referrals = createReferrals({ client, sql, callLimitMs: TEMPORAL_LIMIT_MS })
  const startEndpoint = createEndpointStarter(client)
  const auditedIn = (its: Sql) => async (action: AuditedAction) =>
    void (await recordAudit(its, actor, { ...action, outcome: 'done' }))
  return {
    config,
    sql,
    actor,
    deployment,
    client,
    temporal: { address: temporal.connectionOptions.address, namespace: temporal.namespace },
    /** Rejects when the Temporal namespace is another deployment's. Calls about one workflow check that themselves. */
    requireOwnNamespace: guard,
    referrals,
    startEndpoint,
    cancelOpen,
    resends: createResender({ sql, wakeLead: referrals.wake, startEndpoint }),
    /** To open what is sealed; rejects when a key is missing under which data is stored. */
    openingKeys,
    /** To seal, too: rejects unless API and worker have the newest key, or nothing is sealed yet. */
    encryptionKeys: async (): Promise<readonly Buffer[]> => {
      const keys = await openingKeys()
      const [newest = ''] = keys.map(keyId)
      const known = await keysInUse(sql)
      if (known.length === 0) await lackingKeys(sql, keys)
      else if (!known.includes(newest)) throw new Refusal(notYetInUse(newest))
      return keys
    },
    /** Runs `work` in one transaction, which calls nothing but PostgreSQL. */
    change: async <Result>(work: (change: Change) => Promise<Result>): Promise<Result> =>
      sql.transaction().execute((trx) => work({ sql: trx, audit: auditedIn(trx) })),
    /**
     * Runs `work` that takes more than one transaction, between two audit rows. The first is written before anything is done,
     * so a login without that right is refused. The second is missing if the command was killed, or PostgreSQL was away
     * at its end: a failure to write the second row does not fail the command.
     */
    async act<Result>(action: AuditedAction, work: () => Promise<Acted<Result>>): Promise<Result> {
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
        await end(isTemporalAway(error) || isDatabaseAway(error) ? 'unknown' : 'failed')
        throw error
      }
    },
    /** Notes in the audit that staff looked at borrowers, before they are shown. */
    recordLook: auditedIn(sql),
    close: async () => orm.close(),
  }
}
