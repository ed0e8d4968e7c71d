import type { erasuresOf } from '../statements/requests.ts'
import type { Certificate } from '../decisions/erasure.ts'
import { fields, printable } from '../../../staff/answer.ts'

type Erasure = Awaited<ReturnType<typeof erasuresOf>>[number]

/** What was asked for, by whom, and what became of it. */
export function erasureFields(erasure: Erasure): string {
  const { canceled_at: canceled, erased_at: erased, erased_by: by } = erasure
  return fields({
    lead: erasure.lead_id,
    partner: erasure.partner_id,
    requested: erasure.requested_at,
    'requested by': erasure.requested_by,
    reason: erasure.reason,
    ...(erasure.reference !== null && { reference: erasure.reference }),
    due: erasure.due_at,
    'told by email': erasure.told_at,
    ...(canceled && { canceled }),
    ...(erased && { erased, 'erased by': by, checked: erasure.checked_at }),
  })
}

const tables: Record<keyof Certificate['rows'], string> = {
  leads: 'leads: personal data emptied',
  idempotency_keys: 'idempotency_keys: deleted',
  onboarding_mails: 'onboarding_mails: hashes of addresses emptied',
  deliveries: 'deliveries: open webhooks canceled',
  attempts: 'attempts: answers of endpoints emptied',
}

/** A certificate as it is read by people. */
export function certificateLines({
  deployment,
  erased,
  kept,
  rows,
  journal,
  backups,
  checked,
}: Certificate): string[] {
  const list = (items: readonly string[]) => items.map((item) => `  - ${printable(item)}`).join('\n')
  const names = Object.keys(tables) as (keyof typeof tables)[]
  return [
    `Certificate of deployment ${deployment}`,
    `Erased:\n${list(erased)}`,
    `Kept:\n${list(kept)}`,
    `Rows:\n${list(names.map((name) => `${tables[name]}: ${rows[name]}`))}`,
    checked === undefined
      ? 'Not checked yet: a worker ends the lead’s workflow and then counts what is left.'
      : `Checked at ${checked.at}: ${checked.how}. Left:\n${list(names.map((name) => `${name}: ${checked.left[name]}`))}`,
    journal === null
      ? 'Erasure journal: this deployment has none.'
      : `Erasure journal: ${journal.file}, the line with SHA-256 ${journal.sha256}`,
    backups.until === null
      ? 'Backups: BACKUP_RETENTION_DAYS does not say until when older ones hold the data.'
      : `Backups: older ones hold the data until ${backups.until}, when the last of them is deleted (${backups.retention_days} days). One that is restored before then is erased again by the journal.`,
  ]
}
