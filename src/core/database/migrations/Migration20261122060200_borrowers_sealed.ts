import { Migration } from '@mikro-orm/migrations'
import { takeKeys } from '../migration-keys.ts'
import { type Place, seal } from '../../sealing/seal.ts'

const BATCH = 200

interface Lead {
  id: number
  /** PostgreSQL's mark of the row's version. */
  version: string
  first_name: string
  last_name: string
  email: string
  phone: string
  notes: string | null
  metadata: Record<string, string>
}

/**
 * Borrowers' data was readable in the database. It is sealed in small batches, so the migration may be cut off and run
 * again; then the columns that were readable go, and the tables are written anew, because PostgreSQL keeps what a row or a
 * column was until its place is needed.
 */
export class Migration20261122060200_borrowers_sealed extends Migration {
  override isTransactional(): boolean {
    return false
  }

  override async up(): Promise<void> {
    if (await this.isReadable()) {
      await this.execute('alter table leads add column if not exists personal text null')
      while (await this.sealLeads());
      await this.execute(
        `alter table leads drop column first_name, drop column last_name, drop column email, drop column phone,
          add constraint leads_personal_check check (personal is not null or erased_at is not null)`,
      )
    }
    while (await this.sealRequestHashes());
    // writes the tables anew. VACUUM FULL would keep what somebody's older snapshot could still see.
    await this.execute(`alter table leads alter column personal type text using personal || ''`)
    await this.execute(
      `alter table idempotency_keys alter column request_hash type text using request_hash || ''`,
    )
  }

  private async isReadable(): Promise<boolean> {
    const columns = await this.execute(
      `select from pg_attribute where attrelid = 'leads'::regclass and attname = 'email' and not attisdropped`,
    )
    return columns.length > 0
  }

  /** @returns whether there may be more. */
  private async sealLeads(): Promise<boolean> {
    const leads = (await this.execute(
      `select id, xmin::text as version, first_name, last_name, email, phone, notes, metadata from leads
        where personal is null order by id limit ${BATCH}`,
    )) as unknown as Lead[]
    if (leads.length === 0) return false
    const keys = await takeKeys(this, this.config)
    // one that changes meanwhile is in the next batch
    await this.execute(
      `update leads set personal = sealed.personal, notes = sealed.notes, metadata = sealed.metadata,
          first_name = '', last_name = '', email = '', phone = ''
        from jsonb_to_recordset(?::jsonb) as sealed (id int, version text, personal text, notes text, metadata jsonb)
        where leads.id = sealed.id and leads.xmin::text = sealed.version`,
      [JSON.stringify(leads.map((lead) => sealed(lead, keys)))],
    )
    return true
  }

  /** A hash of what can be guessed tells what it is of. */
  private async sealRequestHashes(): Promise<boolean> {
    const rows = (await this.execute(
      `select lead_id, request_hash from idempotency_keys where request_hash not like 'v1.%' limit ${BATCH}`,
    )) as unknown as { lead_id: number; request_hash: string }[]
    if (rows.length === 0) return false
    const keys = await takeKeys(this, this.config)
    const changes = rows.map(({ lead_id: id, request_hash: hash }) => {
      return { id, hash, sealed: seal(hash, `idempotency_keys:${id}:request_hash`, keys) }
    })
    await this.execute(
      `update idempotency_keys set request_hash = changes.sealed
        from jsonb_to_recordset(?::jsonb) as changes (id int, hash text, sealed text)
        where lead_id = changes.id and request_hash = changes.hash`,
      [JSON.stringify(changes)],
    )
    return true
  }
}

function sealed({ id, version, notes, metadata, ...lead }: Lead, keys: readonly Buffer[]) {
  const { first_name, last_name, email, phone } = lead
  const at = (column: string, text: string) => seal(text, `leads:${id}:${column}` satisfies Place, keys)
  return {
    id,
    version,
    personal: at('personal', JSON.stringify({ first_name, last_name, email, phone })),
    notes: notes === null ? null : at('notes', notes),
    metadata: Object.fromEntries(
      Object.entries(metadata).map(([name, value]) => [name, at(`metadata.${name}`, value)]),
    ),
  }
}
