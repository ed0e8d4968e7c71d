import { cancellationSignal } from '@temporalio/activity'
import { sql as raw } from 'kysely'
import type { Logger } from 'pino'
import type { Sql } from '../src/database/sql.ts'
import { endpointsAtWork } from '../src/endpoints/endpoint-review.ts'
import type { WorkerObserver } from '../src/observe/worker-metrics.ts'
import { forEachInFlight } from '../src/temporal/in-flight.ts'
import { endpointWorkflowId, referralId } from '../src/temporal/names.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../src/values.ts'
import { again, whileBeating } from './activity-context.ts'
import { restoredText } from './mail-texts.ts'
import type { Mailer } from './mailer.ts'

/** Two comparisons, so that one that is late leaves no gap. */
const LOOK_BACK_MS = 10 * MINUTE_MS

/** The result, for operators and the next comparison. */
export interface Comparison {
  /** Leads' workflows that were started, or told to read the record again. */
  repaired: number
  /** Leads and endpoints for which that failed. */
  failed: number
  /** When all leads are compared next, in milliseconds since 1970. */
  allAt: number
}

interface Dependencies extends MailDependencies {
  /** Those that ended a while ago or are overdue, or all. */
  compareLeads: (which: { endedSince: number | undefined; signal: AbortSignal }) => Promise<{
    started: number[]
    refreshed: number[]
    failed: { item: number; error: unknown }[]
  }>
  startEndpoint: (partnerId: number) => Promise<unknown>
  observe: Pick<WorkerObserver, 'scheduleEnded'>
}

/**
 * Brings what runs in Temporal to what the record says: starts the workflows of leads that ended recently and of endpoints
 * that have something to do, wakes leads whose webhook is overdue, and tells partners of a restore. From `allAt` on, and
 * after a restore, it compares all open leads. A repeat, or another one at the same time, changes nothing.
 */
export function compareWithRecordActivity(dependencies: Dependencies) {
  const { compareLeads, observe, log } = dependencies
  return (allAt: number): Promise<Comparison> =>
    whileBeating(async () => {
      const began = Date.now()
      const signal = cancellationSignal()
      const endpoints = await startEndpoints(dependencies)
      const all = began >= allAt
      const leads = await compareLeads({ endedSince: all ? undefined : began - LOOK_BACK_MS, signal })
      for (const { item: leadId, error: err } of leads.failed) {
        const facts = { err, lead_id: leadId, workflow_id: referralId(leadId) }
        log.error(facts, 'cannot repair a lead’s workflow from the record')
      }
      if (signal.aborted) throw again('the worker stops')
      const repaired = leads.started.length + leads.refreshed.length
      if (repaired > 0) log.warn({ repaired }, 'repaired leads’ workflows from the record')
      // last: no lead waits for a mail server
      await tellRestored(dependencies)
      observe.scheduleEnded('comparison')
      const nextAllAt = began + (leads.failed.length === 0 ? DAY_MS : HOUR_MS)
      return { repaired, failed: leads.failed.length + endpoints.failed, allAt: all ? nextAllAt : allAt }
    })
}

async function startEndpoints({ sql, startEndpoint, log }: Dependencies): Promise<{ failed: number }> {
  const failed = await forEachInFlight(await endpointsAtWork(sql), startEndpoint)
  for (const { item: id, error: err } of failed) {
    const facts = { err, partner_id: id, workflow_id: endpointWorkflowId(id) }
    log.error(facts, 'cannot start an endpoint’s workflow')
  }
  return { failed: failed.length }
}

interface MailDependencies {
  sql: Sql
  mailer: Mailer
  log: Pick<Logger, 'error' | 'warn'>
}

/** Mails partners that the record was restored, each once; one whose address is refused is tried again, for a day. */
export async function tellRestored({ sql, mailer, log }: MailDependencies): Promise<void> {
  const untold = await sql
    .selectFrom('partners')
    .select((eb) => ['id', 'name', 'contact_email', eb.ref('restored_at').$notNull().as('at')])
    .where('restored_at', '>', raw<Date>`clock_timestamp() - interval '1 day'`)
    .orderBy('id')
    .execute()
  const failed = await forEachInFlight(untold, async ({ id, name, contact_email: to, at }) => {
    const about = { partner_id: id }
    const subject = `Our database was restored: ${name}`
    const messageId = mailer.messageId(`restored-${at.getTime()}-${id}`)
    const text = restoredText(name, at)
    const mail = to === null ? 'no_address' : await mailer.send({ to, subject, text, messageId, about })
    await sql.updateTable('partners').set({ restored_at: null }).where('id', '=', id).execute()
    log.warn({ notice: 'restored', ...about, mail: { partner: mail } }, subject)
  })
  for (const { item, error: err } of failed)
    log.error(
      { err, partner_id: item.id },
      'a partner could not be told of a restore; trying again in five minutes',
    )
}
