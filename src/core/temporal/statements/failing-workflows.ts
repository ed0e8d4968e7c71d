import { sql as raw } from 'kysely'
import type { Sql } from '../../database/orm.ts'

/** A task may fail once or twice while a worker starts or a release is rolled out: after this long, it does not end by itself. */
export const FAILING_AFTER_MS = 60_000

const columns = [
  'workflow_id as workflowId',
  'run_id as runId',
  'type',
  'failure',
  'failed_on as failedOn',
  'since',
] as const

export interface FailingWorkflow {
  workflowId: string
  runId: string
  type: string
  failure: string
  /** The build of the worker on which it failed last. */
  failedOn: string
  since: Date
}

/** Notes workflows whose task fails. One that is known keeps its date. */
export async function noteFailing(sql: Sql, failing: readonly FailingWorkflow[]): Promise<void> {
  if (failing.length === 0) return
  await sql
    .insertInto('failing_workflows')
    .values(
      failing.map(({ workflowId, runId, type, failure, failedOn, since }) => ({
        workflow_id: workflowId,
        run_id: runId,
        type,
        failure,
        failed_on: failedOn,
        since,
      })),
    )
    .onConflict((conflict) =>
      conflict.column('workflow_id').doUpdateSet((eb) => ({
        run_id: eb.ref('excluded.run_id'),
        failure: eb.ref('excluded.failure'),
        failed_on: eb.ref('excluded.failed_on'),
        checked_at: raw<Date>`clock_timestamp()`,
      })),
    )
    .execute()
}

/** Those that were not looked at for `restMs`, the longest first. */
export async function failingToCheck(
  sql: Sql,
  restMs: number,
  limit: number,
): Promise<{ workflowId: string; runId: string }[]> {
  return sql
    .selectFrom('failing_workflows')
    .select(['workflow_id as workflowId', 'run_id as runId'])
    .where('checked_at', '<', raw<Date>`clock_timestamp() - ${restMs} * interval '1 millisecond'`)
    .orderBy('checked_at')
    .limit(limit)
    .execute()
}

/** They were looked at, and still fail. */
export async function noteStillFailing(sql: Sql, workflowIds: readonly string[]): Promise<void> {
  if (workflowIds.length === 0) return
  await sql
    .updateTable('failing_workflows')
    .set({ checked_at: raw<Date>`clock_timestamp()` })
    .where('workflow_id', 'in', workflowIds)
    .execute()
}

/** Removes one that continues, or has ended, unless it fails in another run by now. */
export async function forgetFailing(
  sql: Sql,
  { workflowId, runId }: Pick<FailingWorkflow, 'workflowId' | 'runId'>,
): Promise<void> {
  await sql
    .deleteFrom('failing_workflows')
    .where('workflow_id', '=', workflowId)
    .where('run_id', '=', runId)
    .execute()
}

/** Those that have failed for a minute and that no log line has named yet. The caller names them. */
export async function tellFailing(sql: Sql, limit: number): Promise<FailingWorkflow[]> {
  const due = sql
    .selectFrom('failing_workflows')
    .select('workflow_id')
    .where('told_at', 'is', null)
    .where('since', '<', raw<Date>`clock_timestamp() - ${FAILING_AFTER_MS} * interval '1 millisecond'`)
    .limit(limit)
  return sql
    .updateTable('failing_workflows')
    .set({ told_at: raw<Date>`clock_timestamp()` })
    .where('workflow_id', 'in', due)
    .returning(columns)
    .execute()
}

/** All of them, in pages by id. */
export async function failingPage(sql: Sql, afterId: string, limit: number): Promise<FailingWorkflow[]> {
  return sql
    .selectFrom('failing_workflows')
    .select(columns)
    .where('workflow_id', '>', afterId)
    .orderBy('workflow_id')
    .limit(limit)
    .execute()
}

export async function findFailing(sql: Sql, workflowId: string): Promise<FailingWorkflow | undefined> {
  return sql
    .selectFrom('failing_workflows')
    .select(columns)
    .where('workflow_id', '=', workflowId)
    .executeTakeFirst()
}

export interface FailingGroup {
  type: string
  workflows: number
  /** When the first of them began to fail. */
  since: Date
  /** The most frequent failure. */
  failure: string
  /** The id of one of them. */
  example: string
}

/** How many have failed for so long, by type. */
export async function failingByType(sql: Sql, olderThanMs = 0): Promise<FailingGroup[]> {
  const { rows } = await raw<FailingGroup>`
    select type, count(*)::int as workflows, min(since) as since,
      mode() within group (order by failure) as failure, min(workflow_id) as example
    from failing_workflows where since <= clock_timestamp() - ${olderThanMs} * interval '1 millisecond'
    group by type order by workflows desc`.execute(sql)
  return rows
}

/** Those that failed last on a build; `undefined` if there are none. */
export async function failingOn(sql: Sql, build: string): Promise<Omit<FailingGroup, 'type'> | undefined> {
  const { rows } = await raw<Omit<FailingGroup, 'type'>>`
    select count(*)::int as workflows, min(since) as since,
      mode() within group (order by failure) as failure, min(workflow_id) as example
    from failing_workflows where failed_on = ${build} having count(*) > 0`.execute(sql)
  return rows[0]
}

/** Some of those that failed last on each build. */
export async function failingSamples(sql: Sql, perBuild: number): Promise<FailingWorkflow[]> {
  const { rows } = await raw<FailingWorkflow>`
    select workflow_id as "workflowId", run_id as "runId", type, failure, failed_on as "failedOn", since
    from (select *, row_number() over (partition by failed_on order by checked_at desc) as place
      from failing_workflows) ranked
    where place <= ${perBuild}`.execute(sql)
  return rows
}
