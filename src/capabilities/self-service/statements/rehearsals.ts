import { sql as raw } from 'kysely'
import { recordAudit } from '../../../core/audit/statements/audit.ts'
import { jsonb } from '../../../core/database/jsonb.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { signingSecrets } from '../../../core/endpoints/statements/secrets.ts'
import type { CertificationResult } from '../decisions/certification.ts'
import { notRehearsed, type RehearsalCheck, rehearsalChecks } from '../decisions/rehearsal.ts'
import type { RehearsalReport } from '../decisions/rehearsal-report.ts'

/** Requests a rehearsal, or answers the one that is running. The caller's transaction has the endpoint locked. */
export async function requestRehearsal(
  trx: Sql,
  { id: endpointId, url }: { id: number; url: string | null },
  { checks, requestedBy }: { checks: readonly RehearsalCheck[]; requestedBy: string },
): Promise<{ id: number; isNew: boolean }> {
  const running = await trx
    .selectFrom('certifications')
    .select('id')
    .where('rehearsed_endpoint_id', '=', endpointId)
    .where('result', 'is', null)
    .executeTakeFirst()
  if (running !== undefined) return { id: running.id, isNew: false }
  const { id } = await trx
    .insertInto('certifications')
    .values({
      rehearsed_endpoint_id: endpointId,
      rehearsed_url: url,
      checks: [...checks],
      accept_failures: false,
      requested_by: requestedBy,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, isNew: true }
}

/** The checks of a rehearsal in their order; none if its partner began again. */
export async function plannedChecks(sql: Sql, id: number): Promise<RehearsalCheck[]> {
  const row = await sql.selectFrom('certifications').select('checks').where('id', '=', id).executeTakeFirst()
  return inOrder(row?.checks)
}

/** Whatever order they were asked for in. */
const inOrder = (checks: readonly string[] | null | undefined) =>
  rehearsalChecks.filter((check) => checks?.includes(check))

/**
 * Where the requests of a running rehearsal go, the secrets that sign there, and what came of those so far; `undefined` if it
 * has ended, or the endpoint has another URL by now.
 *
 * @throws {SealError}
 */
export async function rehearsedEndpoint(sql: Sql, id: number, encryptionKeys: readonly Buffer[]) {
  const found = await sql
    .selectFrom('certifications')
    .innerJoin('endpoints', 'endpoints.id', 'rehearsed_endpoint_id')
    .select(['endpoints.id as endpointId', 'endpoints.url', 'requested_at as requestedAt', 'reports'])
    .$narrowType<{ url: string }>()
    .where('certifications.id', '=', id)
    .where('result', 'is', null)
    .whereRef('endpoints.url', '=', 'rehearsed_url')
    .executeTakeFirst()
  return found && { ...found, secrets: await signingSecrets(sql, found.endpointId, encryptionKeys) }
}

/** Writes down what came of a check so far; repeated after a crash, the later one counts. */
export async function writeRehearsed(sql: Sql, id: number, check: RehearsalCheck, report: RehearsalReport) {
  await sql
    .updateTable('certifications')
    .set({ reports: raw`reports || ${jsonb({ [check]: report })}` })
    .where('id', '=', id)
    .where('result', 'is', null)
    .execute()
}

/** Ends a rehearsal, which changes nothing else. */
export async function endRehearsal(sql: Sql, id: number): Promise<CertificationResult> {
  return sql.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('certifications')
      .innerJoin('endpoints', 'endpoints.id', 'rehearsed_endpoint_id')
      .select(['result', 'reports', 'checks', 'requested_by', 'partner_id'])
      .select(raw<boolean>`endpoints.url is not distinct from rehearsed_url`.as('isCurrent'))
      .where('certifications.id', '=', id)
      .forNoKeyUpdate('certifications')
      .executeTakeFirst()
    // its partner began again
    if (row === undefined) return 'superseded'
    if (row.result !== null) return row.result
    const failed = inOrder(row.checks).filter((check) => row.reports[check]?.result !== 'passed')
    const verdict = failed.length === 0 ? 'passed' : 'failed'
    const result = row.isCurrent ? verdict : 'superseded'
    const unsent = failed.filter((check) => row.reports[check]?.result === undefined)
    const rest = Object.fromEntries(unsent.map((check) => [check, notRehearsed(check)]))
    await trx
      .updateTable('certifications')
      .set({ result, finished_at: raw<Date>`clock_timestamp()` })
      .$if(row.isCurrent, (update) => update.set({ reports: raw`${jsonb(rest)} || reports` }))
      .where('id', '=', id)
      .execute()
    const detail = { certification_id: id, result, failed_checks: failed }
    const action = { action: 'endpoint.rehearsal_ended', partnerId: row.partner_id, detail }
    await recordAudit(trx, row.requested_by, { ...action, outcome: 'done' })
    return result
  })
}

/** The latest rehearsal of a partner's endpoint. */
export async function latestRehearsal(sql: Sql, partnerId: number) {
  const row = await sql
    .selectFrom('certifications')
    .innerJoin('endpoints', 'endpoints.id', 'rehearsed_endpoint_id')
    .select([
      'certifications.id',
      'rehearsed_url as url',
      'result',
      'checks',
      'reports',
      'requested_at',
      'finished_at',
    ])
    .where('partner_id', '=', partnerId)
    .orderBy('certifications.id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && { ...row, checks: inOrder(row.checks) }
}

/** Rehearsals that are requested or running. */
export async function runningRehearsals(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('certifications')
    .select('id')
    .where('result', 'is', null)
    .where('rehearsed_endpoint_id', 'is not', null)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
