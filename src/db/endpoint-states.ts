import { sql as raw } from 'kysely'
import { troubleGoesOn } from './endpoint-trouble.ts'
import { hasNotices } from './notices.ts'
import type { Sql } from './orm.ts'

/** Another URL, a pause or a resume: attempts of the revision before no longer judge the endpoint. */
export const nextRevision = raw<number>`endpoints.revision + 1`

/** Makes every open delivery of a partner wait. Answers the endpoint's id; `undefined` when it has no URL. */
export async function pauseEndpoint(sql: Sql, partnerId: number): Promise<number | undefined> {
  return moveTo(sql, partnerId, { state: 'paused', reason: 'staff', paused_by: 'staff' })
}

/** Lets a partner's webhooks go out again, with their schedules begun anew by `wakeLeads`. */
export async function resumeEndpoint(sql: Sql, partnerId: number): Promise<number | undefined> {
  const worksAgain = { failing_since: null, blocked_until: null, trouble: troubleGoesOn }
  return moveTo(sql, partnerId, { state: 'draining', reason: 'resumed', paused_by: null, ...worksAgain })
}

async function moveTo(
  sql: Sql,
  partnerId: number,
  change: {
    state: 'paused' | 'draining'
    reason: string
    paused_by: 'staff' | null
    failing_since?: null
    blocked_until?: null
    trouble?: typeof troubleGoesOn
  },
): Promise<number | undefined> {
  const endpoint = await sql
    .updateTable('endpoints')
    .set({ ...change, revision: nextRevision, since: raw<Date>`now()` })
    .where('partner_id', '=', partnerId)
    .where('url', 'is not', null)
    .returning('id')
    .executeTakeFirst()
  return endpoint?.id
}

/** A paused endpoint took a probe: what waits goes out now. Not if somebody changed, paused or resumed it meanwhile. */
export async function drainAfterProbe(trx: Sql, partnerId: number, attemptId: string): Promise<void> {
  await trx
    .updateTable('endpoints')
    .set({
      state: 'draining',
      reason: 'probe_succeeded',
      paused_by: null,
      revision: nextRevision,
      since: raw<Date>`now()`,
      trouble: troubleGoesOn,
    })
    .where('partner_id', '=', partnerId)
    .where('paused_by', '=', 'service')
    .where(isOfRevision(attemptId))
    .execute()
}

/** Whether the attempt called the endpoint as it is now. */
export function isOfRevision(attemptId: string) {
  return raw<boolean>`endpoints.revision = (select endpoint_revision from attempts where id = ${attemptId})`
}

/** Endpoints whose workflow has something to do, those first that somebody waits for. */
export async function endpointsAtWork(
  sql: Sql,
  limit: number,
): Promise<{ id: number; isDraining: boolean }[]> {
  const { rows } = await raw<{ id: number; isDraining: boolean }>`
    select e.id, e.state = 'draining' as "isDraining"
    from endpoints e
    where e.url is not null and (e.state <> 'active' or ${hasNotices})
    order by e.state = 'draining' desc, random()
    limit ${limit}
  `.execute(sql)
  return rows
}
