import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { requireDeployment } from '../../src/database/deployment.ts'
import type { Sql } from '../../src/database/sql.ts'
import { attention } from '../../src/staff/attention.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { openDatabase } from '../support/open-database.ts'
import { contextOf, staff, withoutTemporal } from './context.ts'

describe('staff attention', () => {
  let sql: Sql
  let partnerId: number
  let environment: Record<string, string>
  let context: Awaited<ReturnType<typeof contextOf>>

  beforeAll(async () => {
    const database = await openDatabase()
    ;({ sql, partnerId } = database)
    await requireDeployment(sql, 'sandbox')
    environment = withoutTemporal(database.url)
    context = await contextOf(environment)
    await fillDeliveries(sql, partnerId, 2, 'delivered')
    await run('update leads set closed_at = null, close_reason = null')
  })

  const run = async (statement: string) => void (await raw.raw(statement).execute(sql))
  /** The rows of PostgreSQL that have entries. */
  const waiting = async () =>
    (await attention(context)).json.rows.filter(({ entries }) => entries !== null && entries > 0)

  it('is a list of six rows, without entries at first, and says why Temporal does not tell', async () => {
    const { json, text, ...rest } = await attention(context)
    expect(json.rows.map(({ row, entries }) => [row, entries])).toEqual([
      ['workflows whose task fails', null],
      ['endpoints that the service paused', 0],
      ['webhooks given up in the last 7 days', 0],
      ['emails not sent for an hour', 0],
      ['keys in use that end within 14 days', 0],
      ['open leads without news for a year', 0],
    ])
    expect(text).toMatch(
      /^row .*\nworkflows whose task fails +unknown +- +- +see the alert WorkflowsFail \(Temporal does not answer/,
    )
    expect(rest).toEqual({})
  })

  it.each([
    [
      'endpoints that the service paused',
      `update endpoints set url = 'https://a.example', state = 'paused', paused_by = 'service', reason = 'gone'`,
      `update endpoints set paused_by = 'staff', reason = 'staff'`,
    ],
    [
      'webhooks given up in the last 7 days',
      `update deliveries set state = 'given_up'`,
      `update deliveries set settled_at = now() - interval '8 days'`,
    ],
    [
      'webhooks given up in the last 7 days',
      `update deliveries set state = 'pending', settled_at = null, fault = 'ENCRYPTION_KEY lacks the key 0a1b2c3d'`,
      `update deliveries set fault = null`,
    ],
    [
      'emails not sent for an hour',
      `update leads set onboarding = 'failed', onboarding_at = now(), created_at = now() - interval '2 hours'`,
      `update leads set onboarding = 'sent'`,
    ],
    [
      'emails not sent for an hour',
      `insert into notices (partner_id, kind, owed_at) select partner_id, 'failing' || n, now() - interval '2 hours'
        from endpoints, generate_series(1, 2) n`,
      `update notices set sent_at = now()`,
    ],
    [
      'keys in use that end within 14 days',
      `insert into api_keys (partner_id, hash, last4, expires_at)
        select id, n::text, 'last', now() + interval '13 days' from partners, generate_series(1, 2) n`,
      `update api_keys set expires_at = now() + interval '15 days'`,
    ],
    [
      'open leads without news for a year',
      `update leads set last_event_at = now() - interval '366 days'`,
      `update leads set status = 'mortgage_ready'`,
    ],
  ])('has %s, until that is over', async (row, happens, ends) => {
    await run(happens)
    const rows = await waiting()
    expect(rows).toMatchObject([{ row, since: expect.any(Date), partners: [partnerId] }])
    expect(rows[0]?.entries).toBe(row.startsWith('endpoints') ? 1 : 2)
    await run(ends)
    expect(await waiting()).toEqual([])
  })

  it('leaves out keys that one with a later end has replaced', async () => {
    await run(
      `update api_keys set expires_at = now() + interval '1 day', last_used_at = now() - interval '2 days'`,
    )
    await run(`insert into api_keys (partner_id, hash, last4) select id, 'newer', 'last' from partners`)
    expect(await waiting()).toEqual([])
    await run(`update api_keys set last_used_at = now() where expires_at is not null`)
    expect(await waiting()).toMatchObject([{ row: 'keys in use that end within 14 days' }])
  })

  it('ends with 3 where a row has entries', async () => {
    const { code, stdout } = await staff(environment, ['attention', '--json'])
    expect(code).toBe(3)
    expect(JSON.parse(stdout).rows).toHaveLength(6)
  })
})
