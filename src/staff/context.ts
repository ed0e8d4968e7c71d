import type { Client } from '@temporalio/client'
import type { Config } from '../config.ts'
import { type AuditedAction, recordAudit } from '../db/audit.ts'
import { remembered, requireDeployment } from '../db/deployment.ts'
import { backgroundPatience } from '../db/mikro-orm.config.ts'
import { connect, type Em, type Orm, type Sql, sqlIn, sqlOf } from '../db/orm.ts'
import { createTemporalClient, type TemporalSettings } from '../temporal/client.ts'
import { createEndpointStarter, type StartEndpoint } from '../temporal/endpoints.ts'
import { createReferrals, type Referrals } from '../temporal/referrals.ts'
import { type Acted, betweenTwoLines } from './acting.ts'
import { createResendStarter, type StartResends } from '../temporal/resend.ts'
import type { Answer } from './answer.ts'

/** How long whoever typed a command waits to hear that Temporal does not answer. */
const PATIENCE_MS = 3000

/** A change under way: what it writes and its line in the audit, `done`, are committed together. */
export interface Change {
  em: Em
  sql: Sql
  audit: (action: AuditedAction) => Promise<void>
}

/** What the commands work with. Nothing connects before it is used. */
export interface StaffContext {
  config: Config<'staff'>
  sql: Sql
  /** The deployment's id; rejects when the database is of the other environment. */
  deployment: () => Promise<string>
  /** Rejects when the Temporal namespace is another deployment's. Calls about one workflow ask by themselves. */
  requireOwnNamespace: () => Promise<void>
  /** Does what is one transaction. Nothing but PostgreSQL is called in it. */
  change: <Result>(work: (change: Change) => Promise<Result>) => Promise<Result>
  /** Does everything else, with a line in the audit before, and one that says what came of it. */
  act: <Result>(action: AuditedAction, work: () => Promise<Acted<Result>>) => Promise<Result>
  client: Client
  referrals: Referrals
  startEndpoint: StartEndpoint
  startResends: StartResends
  temporal: { address: string; namespace: string }
  close: () => Promise<void>
}

/** Makes a command out of what it does; `Args` are what commander passes on. */
export type Run = <Args extends unknown[]>(
  act: (context: StaffContext, ...args: Args) => Promise<Answer>,
) => (...args: Args) => Promise<void>

/** @param actor who acts, as the audit names them. */
export async function openContext(
  config: Config<'staff'>,
  temporal: TemporalSettings,
  actor: string,
): Promise<StaffContext> {
  const orm = await connect(config.DATABASE_URL, backgroundPatience)
  const sql = sqlOf(orm)
  const deployment = remembered(() => requireDeployment(sql, config.ENVIRONMENT))
  const { client, guard } = createTemporalClient(temporal, { deployment })
  return {
    config,
    sql,
    deployment,
    requireOwnNamespace: guard,
    change: (work) => inOneTransaction(orm, actor, work),
    act: (action, work) => betweenTwoLines(sql, actor, action, work),
    client,
    referrals: createReferrals({ client, sql, callLimitMs: PATIENCE_MS }),
    startEndpoint: createEndpointStarter(client),
    startResends: createResendStarter(client),
    temporal: { address: temporal.connectionOptions.address, namespace: temporal.namespace },
    close: async () => void (await Promise.all([client.connection.close(), orm.close()])),
  }
}

function inOneTransaction<Result>(
  orm: Orm,
  actor: string,
  work: (change: Change) => Promise<Result>,
): Promise<Result> {
  return orm.em.fork().transactional(async (em) => {
    const sql = sqlIn(em)
    const audit = async (action: AuditedAction) =>
      void (await recordAudit(sql, actor, { ...action, outcome: 'done' }))
    return work({ em, sql, audit })
  })
}
