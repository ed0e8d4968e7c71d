import { sql as raw } from 'kysely'
import type { Sql } from '../../database/orm.ts'
import { isValidKey } from './keys.ts'

/** Days until the first API key ends that was used within a day; `undefined` while none of them ends. */
export async function firstKeyEndDays(sql: Sql): Promise<number | undefined> {
  const { days } = await sql
    .selectFrom('api_keys')
    .select(raw<number | null>`extract(epoch from min(expires_at) - now())::float8 / 86400`.as('days'))
    .where(isValidKey)
    .where('last_used_at', '>', raw<Date>`now() - interval '1 day'`)
    .executeTakeFirstOrThrow()
  return days ?? undefined
}
