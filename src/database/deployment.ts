import { randomUUID } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { Refusal } from '../fail.ts'
import { type Environment } from '../values.ts'
import type { Sql } from './sql.ts'

/** Whose record this database holds: its one row is made once and stays. */
export const Deployment = defineEntity({
  name: 'Deployment',
  tableName: 'deployment',
  properties: {
    id: p.uuid().primary(),
    environment: p.text().$type<Environment>(),
    /** In seconds since 2026; staff raise it after PostgreSQL came back with less than it had. */
    epoch: p.integer(),
  },
})

/** Epochs, the first one too, count seconds, so that an epoch that a restore forgot is not given again. */
const secondsSince2026 = raw<number>`extract(epoch from clock_timestamp() - timestamptz '2026-01-01 00:00Z')::int`

/** The database holds the record of the other environment. */
export class OtherEnvironment extends Refusal {
  constructor(stored: Environment, asked: Environment) {
    super(
      `This database belongs to a ${stored} deployment, and ENVIRONMENT is ${asked}: point DATABASE_URL at the ${asked} database, or set ENVIRONMENT=${stored}.`,
    )
  }
}

/**
 * The id of the deployment that the database belongs to. The first program that asks sets its environment, forever.
 *
 * @throws {OtherEnvironment} when it is one of the other environment.
 */
export async function requireDeployment(sql: Sql, environment: Environment): Promise<string> {
  const find = sql.selectFrom('deployment').select(['id', 'environment'])
  let stored = await find.executeTakeFirst()
  if (stored === undefined) {
    // if several programs do this at once, one of them wins
    await sql
      .insertInto('deployment')
      .values({ id: randomUUID(), environment, epoch: secondsSince2026 })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    stored = await find.executeTakeFirstOrThrow()
  }
  if (stored.environment !== environment) throw new OtherEnvironment(stored.environment, environment)
  return stored.id
}

/** Caches the first result of `require`, and no failure. Concurrent calls share one request. */
export function remembered<Result>(require: () => Promise<Result>): () => Promise<Result> {
  let known: Promise<Result> | undefined
  return () => {
    known ??= require().catch((error: unknown) => {
      known = undefined
      throw error
    })
    return known
  }
}

/** How many numbers a restore skips: more than were given and then forgotten. */
const LEADS_LEFT_OUT = 1_000_000
const IDS_LEFT_OUT = 1000
export const SEQUENCES_LEFT_OUT = 1000
/** Leads that one statement changes: the connection of a longer statement would be taken for dead. */
const BATCH = 50_000

/**
 * Begins another epoch of the record, after PostgreSQL came back with less than it had: ids and sequences skip those that
 * may have been given. A lead's workflow then waits until it has read the record, and its partner gets a mail. In a
 * transaction.
 *
 * @returns the epoch after it.
 */
export async function raiseEpoch(trx: Sql): Promise<number> {
  const restored_at = raw<Date>`clock_timestamp()`
  // nobody records an event of an earlier epoch after this
  await raw`lock table leads in exclusive mode`.execute(trx)
  const { epoch } = await trx
    .updateTable('deployment')
    .set({ epoch: raw<number>`greatest(epoch + 1, ${secondsSince2026})` })
    .returning('epoch')
    .executeTakeFirstOrThrow()
  const { last } = await trx
    .selectFrom('leads')
    .select((eb) => eb.fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  for (let after = 0; after < (last ?? 0); after += BATCH)
    await trx
      .updateTable('leads')
      .set((eb) => ({ next_sequence: eb('next_sequence', '+', SEQUENCES_LEFT_OUT), restored_at }))
      .where('id', '>', after)
      .where('id', '<=', after + BATCH)
      .execute()
  await raw`
    select setval(
      format('%I.%I', schemaname, sequencename)::regclass,
      least(max_value, coalesce(last_value, 0)
        + case when sequencename = 'leads_id_seq' then ${LEADS_LEFT_OUT}::int else ${IDS_LEFT_OUT}::int end)
    )
    from pg_sequences where schemaname = current_schema()`.execute(trx)
  await raw`insert into notices (partner_id, kind) select distinct partner_id, 'restored' from leads`.execute(
    trx,
  )
  return epoch
}
