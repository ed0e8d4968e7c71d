import { sql as raw } from 'kysely'
import type { Sql } from '../../src/database/sql.ts'
import { sealBorrower } from '../../src/leads/sealed-lead.ts'
import { LEAD } from './lead.ts'

interface Grown {
  sql: Sql
  encryptionKeys: readonly Buffer[]
}

/** How many of the leads can be read; the others have a ciphertext of the same length that is of another lead. */
export const READABLE = 1000

/** What a table came to. */
export interface GrownTable {
  table: string
  /** Of a row, without its entries in indexes, and these. */
  rowBytes: number
  indexBytes: number
  /** How long all of its indexes took to be made, beside those of the other tables. */
  reindexSeconds: number
}

/** Of a table that is filled, in a session of its own. */
const SESSION = [
  'set session_replication_role = replica',
  'set synchronous_commit = off',
  `set maintenance_work_mem = '1GB'`,
]
const HISTORY = ['lead_events', 'deliveries', 'attempts'] as const

/**
 * Fills an empty database as years do: `leads` leads of one partner with `events` events each, one a month, each with a
 * webhook that its first attempt delivered. Rows are in the order of time, so that a lead's are far apart.
 */
export async function grow(
  { sql, encryptionKeys }: Grown,
  leads: number,
  events: number,
): Promise<GrownTable[]> {
  await insertLeads({ sql, encryptionKeys }, leads, events)
  const seconds = await Promise.all(
    HISTORY.map((table) =>
      sql.connection().execute(async (connection) => {
        const run = (statement: string) => raw.raw(statement).execute(connection)
        for (const setting of SESSION) await run(setting)
        // made anew from all rows at the end, which takes a fraction of the time
        await run(`update pg_index set indisready = false where indrelid = '${table}'::regclass`)
        for (let n = 1; n <= events; n++) await run(INSERTS[table](leads, n))
        const began = performance.now()
        await run(`reindex table ${table}`)
        const reindexed = (performance.now() - began) / 1000
        await run(`vacuum analyze ${table}`)
        await run('discard all')
        return reindexed
      }),
    ),
  )
  await raw`checkpoint`.execute(sql)
  return Promise.all(
    HISTORY.map(async (table, index) => {
      const { rows } = await raw<Omit<GrownTable, 'table' | 'reindexSeconds'>>`
        select pg_table_size(oid)::float8 / ${leads * events} as "rowBytes",
          pg_indexes_size(oid)::float8 / ${leads * events} as "indexBytes"
        from pg_class where oid = ${table}::regclass`.execute(sql)
      return { table, reindexSeconds: seconds[index] ?? 0, rowBytes: 0, indexBytes: 0, ...rows[0] }
    }),
  )
}

async function insertLeads({ sql, encryptionKeys }: Grown, leads: number, events: number): Promise<void> {
  const sealed = (id: number) =>
    sealBorrower(id, { ...LEAD, notes: null, metadata: {} }, encryptionKeys).personal
  await raw`
    insert into leads (id, partner_id, partner_lead_id, personal, email_hash, fico_range, loan_officer_id,
      status, next_position, next_sequence, last_event_at, workflow_started_at, created_at, updated_at)
    select id, 1, 'LOAN-' || id, ${sealed(0)}, md5(id::text), '550-579', 'LO-1',
      'score_update', ${events} + 1, ${events} + 1, now() - interval '90 days', now(),
      now() - interval '400 days', now()
    from generate_series(1, ${leads}::int) id`.execute(sql)
  const readable = Array.from({ length: READABLE }, (_, n) => {
    const id = 1 + n * Math.floor(leads / READABLE)
    return { id, personal: sealed(id) }
  })
  await raw`
    update leads set personal = readable.personal
    from jsonb_to_recordset(${JSON.stringify(readable)}::jsonb) as readable (id int, personal text)
    where leads.id = readable.id`.execute(sql)
  await raw`select setval(pg_get_serial_sequence('leads', 'id'), ${leads})`.execute(sql)
  await raw`vacuum analyze leads`.execute(sql)
}

/** Of all leads, the event of that number: the first 400 days ago, the others a month apart, over all leads in 28 days. */
const eventsOf = (leads: number, n: number) => `(
  select lead, at, left(hex, 8) || '-' || right(hex, 4) || '-7000-8000-' || lpad(to_hex(lead), 12, '0') as id
  from generate_series(1, ${leads}) lead
  cross join lateral (
    select now() - interval '400 days' + ${n - 1} * interval '30 days' + lead * interval '28 days' / ${leads} as at
  ) as moment
  cross join lateral (
    select lpad(to_hex((1000 * extract(epoch from at))::bigint), 12, '0') as hex
  ) as of_it
) as event`

const PAYLOAD =
  '{"experian_gain": 12, "equifax_gain": 9, "transunion_gain": 15, "estimated_time_remaining": "90-120 days"}'

const INSERTS: Record<(typeof HISTORY)[number], (leads: number, n: number) => string> = {
  lead_events: (leads, n) => `
    insert into lead_events (id, lead_id, partner_id, position, event_name, event_payload, dedupe_key, created_at)
    select 'evt_' || id, lead, 1, ${n}, '${n === 1 ? 'lead_received' : 'score_update'}', '${PAYLOAD}',
      '${n === 1 ? 'lead_received' : `score_update:${n}`}', at
    from ${eventsOf(leads, n)}`,
  deliveries: (leads, n) => `
    insert into deliveries (event_id, lead_id, partner_id, sequence, body, state, next_attempt_at, settled_at)
    select 'evt_' || id, lead, 1, ${n}, repeat('x', 200), 'delivered', at, at from ${eventsOf(leads, n)}`,
  attempts: (leads, n) => `
    insert into attempts (id, event_id, partner_id, number, trigger, endpoint_revision, url, started_at, finished_at,
      duration_ms, address, status, response_headers, response_body)
    select 'att_' || id, 'evt_' || id, 1, 1, 'scheduled', 1, 'https://lender.example', at, at, 40, '192.0.2.1', 200,
      '{"content-type": "text/plain"}', 'ok'
    from ${eventsOf(leads, n)}`,
}
