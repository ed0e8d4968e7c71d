import { beforeAll, describe, expect, it } from '@jest/globals'
import { emptyLeads } from '../../src/privacy/erase.ts'
import type { DeliveryState } from '../../src/deliveries/delivery-states.ts'
import type { Sql } from '../../src/database/sql.ts'
import { beginAttempt } from '../../src/deliveries/begin-attempt.ts'
import { generateSecret } from '../../src/webhooks/signature.ts'
import { requestAttempt } from '../../src/deliveries/resends.ts'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { sealing } from '../../src/seal.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { openDatabase } from '../support/open-database.ts'
import { holdRow } from '../support/row-lock.ts'
import { testKeys } from '../support/test-keys.ts'

describe('a webhook that is asked for again as its lead is erased', () => {
  let sql: Sql
  let partnerId: number

  beforeAll(async () => {
    ;({ sql, partnerId } = await openDatabase())
    const secret = sealing(generateSecret(), testKeys)
    await switchAsStaff(sql, partnerId, { url: 'https://lender.example/hooks', secret })
  })

  const deliveryOf = (eventId: string) =>
    sql
      .selectFrom('deliveries')
      .select(['lead_id', 'sequence', 'state', 'asked'])
      .where('event_id', '=', eventId)
      .executeTakeFirstOrThrow()
  const attemptsAt = (eventId: string) =>
    sql.selectFrom('attempts').select('id').where('event_id', '=', eventId).execute()
  async function addWebhook(state: DeliveryState) {
    const [eventId = ''] = await fillDeliveries(sql, partnerId, 1, state)
    return { eventId, leadId: (await deliveryOf(eventId)).lead_id }
  }
  const erase = (trx: Sql, leadId: number) => emptyLeads(trx, [leadId])

  it('is canceled without a mark if it is open, and is asked for while the erasure waits for it', async () => {
    const { eventId, leadId } = await addWebhook('pending')
    const delivery = await holdRow(sql, 'deliveries', `event_id = '${eventId}'`)
    const erased = sql.transaction().execute((trx) => erase(trx, leadId))
    await delivery.reached()
    await delivery.release((trx) => requestAttempt(trx, eventId))
    await erased
    expect(await deliveryOf(eventId)).toMatchObject({ state: 'canceled', asked: null })
  })

  it.each(['resend', 'replay'] as const)('gets no %s if the erasure comes first', async (trigger) => {
    const { eventId, leadId } = await addWebhook('delivered')
    const delivery = await holdRow(sql, 'deliveries', `event_id = '${eventId}'`)
    const begun = beginAttempt(sql, { leadId, sequence: 1, trigger }, testKeys, () => true)
    await delivery.reached()
    await delivery.release((trx) => erase(trx, leadId))
    expect(await begun).toEqual({ kind: 'settled', state: 'canceled' })
    expect(await attemptsAt(eventId)).toEqual([])
  })

  it('has its attempt in the record before the erasure if a replay comes first', async () => {
    const { eventId, leadId } = await addWebhook('delivered')
    // in the middle of its statement, when it writes the attempt
    const event = await holdRow(sql, 'lead_events', `id = '${eventId}'`)
    const begun = beginAttempt(sql, { leadId, sequence: 1, trigger: 'replay' }, testKeys, () => true)
    await event.reached()
    const erased = sql.transaction().execute(async (trx) => {
      await erase(trx, leadId)
      return attemptsAt(eventId)
    })
    await event.release()
    expect(await begun).toMatchObject({ kind: 'send' })
    expect(await erased).toHaveLength(1)
  })
})
