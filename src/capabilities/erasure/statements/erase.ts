import { sql as raw } from 'kysely'
import { DAY_MS } from '../../../core/values/durations.ts'
import { type Certificate, erasedData, keptData } from '../decisions/erasure.ts'
import type { AnyErasureReason } from '../../../core/leads/decisions/reasons.ts'
import { recordAudit } from '../../../core/audit/statements/audit.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { emptyLeads } from './empty.ts'
import type { ErasureTools, Journaled } from './journal.ts'
import { type Intended, withIntent } from './with-intent.ts'

export interface Erasing {
  /** Who carries it out, as the audit takes them. */
  by: Parameters<typeof recordAudit>[1]
  /** Of the leads whose erasure nobody requested before. */
  reason: AnyErasureReason
  /** A case number of staff's. */
  reference?: string | undefined
  /** After how many days retention erases them. */
  retentionDays?: number
  /** Only those whose erasure is requested, due, and not canceled. */
  onlyDue?: boolean
  /** Their lines in the journal by the leads' ids, if they are there already. */
  journaled?: ReadonlyMap<number, Journaled>
  /** Nobody is emailed, and no workflow is needed, because the caller also checks it. */
  isQuiet?: boolean
}

/**
 * Erases leads, and answers which: not those that are held, or erased already. In one transaction with its audit row; the
 * journal has their intents before it commits, and their ends afterwards.
 */
export async function eraseLeads(
  sql: Sql,
  leadIds: readonly number[],
  tools: ErasureTools,
  erasing: Erasing,
): Promise<number[]> {
  if (leadIds.length === 0) return []
  const journal = erasing.journaled === undefined ? tools.journal : undefined
  return withIntent(sql, journal, async (trx, intend) => {
    const locked = await lockLeads(trx, leadIds)
    const due = erasing.onlyDue ? await dueAmong(trx, leadIds) : undefined
    const leads = locked.filter(({ id }) => due?.has(id) ?? true)
    if (leads.length === 0) return []
    const { id: deployment } = await trx.selectFrom('deployment').select('id').executeTakeFirstOrThrow()
    const ids = leads.map(({ id }) => id)
    const rowsOf = await emptyLeads(trx, ids)
    const intents = await intend(leads.map((lead) => intended(deployment, lead)))
    const certificates = leads.map(({ id, now }, index) => {
      const journaled = erasing.journaled?.get(id) ?? intents[index]
      return { leadId: id, certificate: certify(rowsOf(id), { deployment, now, journaled }, tools) }
    })
    await writeErasures(trx, certificates, erasing)
    await audit(trx, leads, erasing)
    return ids
  })
}

async function lockLeads(trx: Sql, leadIds: readonly number[]) {
  return trx
    .selectFrom('leads')
    .select(['id', 'partner_id', raw<Date>`clock_timestamp()`.as('now')])
    .select(
      raw<string>`(select id from lead_events where lead_id = leads.id and position = 1)`.as('event_id'),
    )
    .where('id', 'in', leadIds)
    .where('erased_at', 'is', null)
    .where('held_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute()
}

/** A statement of its own, after the lock: a cancellation holds that. */
async function dueAmong(trx: Sql, leadIds: readonly number[]): Promise<Set<number>> {
  const rows = await trx
    .selectFrom('erasures')
    .select('lead_id')
    .where('lead_id', 'in', leadIds)
    .where('canceled_at', 'is', null)
    .where('erased_at', 'is', null)
    .where('due_at', '<=', raw<Date>`clock_timestamp()`)
    .where(raw<boolean>`(told_at is not null or not is_announced)`)
    .execute()
  return new Set(rows.map(({ lead_id: leadId }) => leadId))
}

type LockedLead = Awaited<ReturnType<typeof lockLeads>>[number]

const intended = (deployment: string, { id, event_id: eventId, now }: LockedLead): Intended => ({
  deployment,
  lead_id: id,
  event_id: eventId,
  at: now.toISOString(),
})

function certify(
  rows: Certificate['rows'],
  { deployment, now, journaled }: { deployment: string; now: Date; journaled: Journaled | undefined },
  { backupDays }: ErasureTools,
): Certificate {
  const until = backupDays === undefined ? null : new Date(now.getTime() + backupDays * DAY_MS).toISOString()
  return {
    deployment,
    erased: erasedData,
    kept: keptData,
    rows,
    journal: journaled ?? null,
    backups: { retention_days: backupDays ?? null, until },
  }
}

const nameOf = (by: Erasing['by']) => (typeof by === 'string' ? by : by.name)

/** Completes the requests, and writes one for each lead that had none. */
async function writeErasures(
  trx: Sql,
  erased: readonly { leadId: number; certificate: Certificate }[],
  { by, reason, reference, isQuiet = false }: Erasing,
): Promise<void> {
  const now = raw<Date>`clock_timestamp()`
  await trx
    .insertInto('erasures')
    .values(
      erased.map(({ leadId, certificate }) => ({
        lead_id: leadId,
        requested_by: nameOf(by),
        reason,
        reference: reference ?? null,
        due_at: now,
        erased_at: now,
        erased_by: nameOf(by),
        certificate: raw<Certificate>`${JSON.stringify(certificate)}::jsonb`,
        ...(isQuiet && { told_at: now, started_at: now }),
      })),
    )
    .onConflict((conflict) =>
      conflict
        .column('lead_id')
        .where('canceled_at', 'is', null)
        .doUpdateSet((eb) => ({
          erased_at: eb.ref('excluded.erased_at'),
          erased_by: eb.ref('excluded.erased_by'),
          certificate: eb.ref('excluded.certificate'),
        })),
    )
    .execute()
}

/** One row for all: a batch of retention's is one action. */
async function audit(trx: Sql, leads: readonly LockedLead[], erasing: Erasing): Promise<void> {
  const { by, reason, reference, retentionDays } = erasing
  const [first, ...others] = leads
  if (first === undefined) return
  const isOne = others.length === 0
  await recordAudit(trx, by, {
    action: isOne ? 'lead.erase' : 'leads.erase',
    outcome: 'done',
    ...(isOne && { partnerId: first.partner_id, leadId: first.id }),
    detail: {
      reason,
      ...(reference !== undefined && { reference }),
      ...(retentionDays !== undefined && { retention_days: retentionDays }),
      ...(!isOne && { lead_ids: leads.map(({ id }) => id) }),
    },
  })
}
