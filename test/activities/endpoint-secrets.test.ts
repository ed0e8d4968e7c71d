import { beforeEach, describe, expect, it } from '@jest/globals'
import { addSecret, rotateSecret, signOnlyWith } from '../../src/core/endpoints/statements/secrets.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { sealing } from '../../src/core/sealing/seal.ts'
import { generateSecret } from '../../src/core/deliveries/webhooks/secrets.ts'
import { prepareDelivering } from '../support/delivering.ts'
import { type PartnerEndpoint, startPartnerEndpoint } from '../support/partner-endpoint.ts'
import { holdRow } from '../support/row-lock.ts'
import { testKeys } from '../support/test-keys.ts'

describe('an attempt that waits while the endpoint is changed is signed for the endpoint as it is then', () => {
  let on: Awaited<ReturnType<typeof prepareDelivering>>
  let id: number
  let next: PartnerEndpoint

  beforeEach(async () => {
    on = await prepareDelivering()
    next = await startPartnerEndpoint()
    next.secret = generateSecret()
    const { id: found } = await on.sql.selectFrom('endpoints').select('id').executeTakeFirstOrThrow()
    id = found
  })

  const secret = () => sealing(next.secret, testKeys)
  const moveTo = (trx: Sql, url: string) =>
    trx.updateTable('endpoints').set({ url }).where('id', '=', id).execute()

  async function deliverDuring(change: (trx: Sql) => Promise<unknown>): Promise<string> {
    const leadId = await on.commitLead()
    const lock = await holdRow(on.sql, 'endpoints', `id = ${id}`)
    const delivering = on.deliver(leadId, 1, 'scheduled')
    await lock.reached()
    await lock.release(change)
    return (await delivering).outcome
  }

  it('at its first URL', async () => {
    await on.sql.deleteFrom('endpoint_secrets').execute()
    const change = async (trx: Sql) => {
      await moveTo(trx, next.url)
      await signOnlyWith(trx, id, await addSecret(trx, id, secret(), 'unused'))
    }
    expect(await deliverDuring(change)).toBe('delivered')
    expect(next.arrivals.map(({ verified }) => verified)).toEqual([true])
  })

  it('at another URL, and not with the secret of the one before', async () => {
    const change = async (trx: Sql) => {
      await moveTo(trx, next.url)
      await signOnlyWith(trx, id, await addSecret(trx, id, secret(), 'unused'))
    }
    expect(await deliverDuring(change)).toBe('delivered')
    expect(next.arrivals.map(({ verified }) => verified)).toEqual([true])
    expect(on.endpoint.arrivals).toEqual([])
  })

  it('with a secret that was rotated', async () => {
    on.endpoint.secret = next.secret
    expect(await deliverDuring((trx) => rotateSecret(trx, id, secret(), 0))).toBe('delivered')
    expect(on.endpoint.arrivals.map(({ verified }) => verified)).toEqual([true])
  })
})
