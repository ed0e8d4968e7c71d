import { expect, it } from '@jest/globals'
import type { KyselyPlugin } from 'kysely'
import { sqlOf } from '../../src/database/sql.ts'
import { addAttempts } from '../support/attempts.ts'
import { borrower, prepareApi } from '../support/api.ts'

it('get-deliveries shows a delivery and its attempts of one moment', async () => {
  let change = async (): Promise<unknown> => undefined
  /** Once deliveries are read, and before what is read next. */
  const changing: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (result.rows.some((row) => 'waits_for' in row)) await change()
      return result
    },
  }
  const api = await prepareApi({ changeRows: changing })
  const partner = await api.addPartner()
  await partner.post('create-lead', borrower)
  const sql = sqlOf(api.orm)
  change = async () => {
    await addAttempts(sql, partner.id, [{}])
    const settled = { state: 'delivered' as const, settled_at: new Date() }
    await sql.updateTable('deliveries').set(settled).where('partner_id', '=', partner.id).execute()
    change = async () => undefined
  }
  const shown = async () => {
    const [delivery] = (await partner.post('get-deliveries', {})).body.data
    return [delivery.state, delivery.attempts.length]
  }
  expect(await shown()).toEqual(['held', 0])
  expect(await shown()).toEqual(['delivered', 1])
})
