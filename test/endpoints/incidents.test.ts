import { beforeAll, describe, expect, it } from '@jest/globals'
import { turnIncidents } from '../../src/endpoints/notices.ts'
import { setEndpoint } from '../../src/endpoints/switch-endpoint.ts'
import type { Em, Sql } from '../../src/database/sql.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { openDatabase } from '../support/open-database.ts'
import { holdRow } from '../support/row-lock.ts'
import { pauseEndpoint } from '../support/endpoint-states.ts'

describe('what operators hear of endpoints', () => {
  let sql: Sql
  let em: () => Em

  beforeAll(async () => {
    const database = await openDatabase()
    sql = database.sql
    em = () => database.orm.em.fork()
  })

  async function pausedPartner(): Promise<number> {
    const { id } = await addPartner(em(), { name: 'Lender' })
    await setEndpoint(sql, id, { url: 'https://lender.example/webhooks', secret: () => 'x' })
    await pauseEndpoint(sql, id)
    return id
  }

  it('does not wait for an endpoint that somebody has locked, which has its turn later', async () => {
    const [locked, free] = [await pausedPartner(), await pausedPartner()]
    const lock = await holdRow(sql, 'endpoints', `partner_id = ${locked}`)
    expect(await turnIncidents(sql)).toEqual([expect.objectContaining({ kind: 'paused', partnerId: free })])
    await lock.release()
    expect(await turnIncidents(sql)).toEqual([expect.objectContaining({ kind: 'paused', partnerId: locked })])
    expect(await turnIncidents(sql)).toEqual([])
  })
})
