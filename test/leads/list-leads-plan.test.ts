import { expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { leadPage } from '../../src/leads/list-leads.ts'
import type { Sql } from '../../src/database/sql.ts'
import { buffersRead } from '../support/buffers.ts'
import { openDatabase } from '../support/open-database.ts'

/** Eleven leads each, spread over all values: the planner's estimate is worst where two of its bins meet. */
const fewOf = Array.from({ length: 10 }, (_, n) => `L-${1000 + n * 97}`)

it.each([true, false])(
  'a page of a partner’s leads costs the same however many there are, most open: %p',
  async (mostlyOpen) => {
    const { sql, partnerId } = await openDatabase()
    await raw`
    insert into leads (partner_id, partner_lead_id, personal, status, next_position,
      next_sequence, last_event_at, created_at, updated_at, closed_at, close_reason)
    select ${partnerId}, 'L-' || n, 'never opened',
      case when n < 5 then 'mortgage_ready' else 'lead_received' end, 2, 2, now(), now(), now(),
      case when is_closed then now() end, case when is_closed then 'withdrew' end
    from generate_series(1, 20000) n, lateral (select (n < 5) = ${mostlyOpen} as is_closed) closing`.execute(
      sql,
    )
    await raw`vacuum analyze leads`.execute(sql)
    const filters = [
      {},
      { status: 'mortgage_ready' as const },
      { partner_lead_id: 'L-7' },
      ...fewOf.map((prefix) => ({ partner_lead_id_prefix: prefix })),
      { partner_lead_id_prefix: 'L-' },
      { partner_lead_id_prefix: 'M' },
      { delivery: 'failing' as const },
      { delivery: 'held' as const },
      { status: 'lead_received' as const, after: 1000 },
      { closed: true },
      { closed: false },
      { closed: false, after: 1000 },
    ]
    for (const filter of filters) {
      const read = (database: Sql) => leadPage(database, partnerId, { ...filter, limit: 50 })
      expect([filter, (await buffersRead(sql, read)) < 600]).toEqual([filter, true])
    }
  },
)
