import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { ENDPOINT_CAP } from '../../src/deliveries/delivery-states.ts'
import type { MilestoneName } from '../../src/leads/milestones.ts'
import { prepareDelivering } from '../support/delivering.ts'
import { putEndpoints } from '../support/endpoint-states.ts'

/** Longer than any test: the recording waits for the endpoint's answer. */
const PATIENT_MS = 60_000
const item = (name: MilestoneName) => ({ name, dedupeKey: name })

describe('a recording that sends the webhook itself', () => {
  type Delivering = Awaited<ReturnType<typeof prepareDelivering>>
  let on: Delivering
  let leadId: number

  beforeAll(async () => {
    on = await prepareDelivering()
  })

  beforeEach(async () => {
    await putEndpoints(on.sql, 'active')
    on.endpoint.answer = (_, response) => void response.writeHead(200).end()
    leadId = await on.commitLead()
    await on.deliver(leadId, 1, 'scheduled')
    on.endpoint.arrivals.length = 0
  })

  const deliveries = () =>
    on.sql
      .selectFrom('deliveries')
      .leftJoin('attempts', 'attempts.event_id', 'deliveries.event_id')
      .select(['sequence', 'state', 'lease', 'attempts.number', 'attempts.trigger', 'attempts.status'])
      .where('lead_id', '=', leadId)
      .where('sequence', '>', 1)
      .orderBy('sequence')
      .execute()
  const untouched = { state: 'pending', lease: null, number: null, trigger: null, status: null }
  const upTo = (after: number) => ({ partnerId: on.partnerId, after })
  const patient = () => on.startProcess({ waitMs: PATIENT_MS })

  it('answers that it was delivered', async () => {
    const recording = await patient().record(leadId, [item('contract_signed')], upTo(1))
    expect(recording).toMatchObject({
      delivered: 2,
      last: 2,
      outcomes: [{ outcome: 'recorded', sequence: 2 }],
    })
    expect(on.endpoint.arrivals).toEqual([expect.objectContaining({ verified: true })])
    expect(await deliveries()).toEqual([
      { sequence: 2, state: 'delivered', lease: null, number: 1, trigger: 'scheduled', status: 200 },
    ])
  })

  it('sends the first of several, and leaves the others for after it', async () => {
    const items = [item('contract_signed'), item('client_engaged_in_chat'), item('escrow_funded')]
    expect(await patient().record(leadId, items, upTo(1))).toMatchObject({ delivered: 2, last: 3 })
    expect(await deliveries()).toEqual([
      expect.objectContaining({ sequence: 2, state: 'delivered' }),
      { sequence: 3, ...untouched },
    ])
  })

  it('overtakes no webhook that somebody recorded meanwhile', async () => {
    const { record } = patient()
    await record(leadId, [item('contract_signed')], undefined)
    expect(await record(leadId, [item('escrow_funded')], upTo(1))).not.toHaveProperty('delivered')
    expect(await deliveries()).toEqual([
      { sequence: 2, ...untouched },
      { sequence: 3, ...untouched },
    ])
    expect(on.endpoint.arrivals).toEqual([])
  })

  it('only records while the endpoint is paused', async () => {
    await putEndpoints(on.sql, 'paused')
    const recording = await patient().record(leadId, [item('contract_signed')], upTo(1))
    expect(recording).toMatchObject({ last: 2, outcomes: [{ outcome: 'recorded' }] })
    expect(recording).not.toHaveProperty('delivered')
    expect(await deliveries()).toEqual([{ sequence: 2, ...untouched }])
  })

  it('does not fail with the webhook, whose delivery says why it waits', async () => {
    on.endpoint.answer = (_, response) => void response.writeHead(503).end()
    const { record, deliver, told } = patient()
    expect(await record(leadId, [item('contract_signed')], upTo(1))).not.toHaveProperty('delivered')
    expect(told).toEqual([{ sequence: 2, failures: 1, reason: 'the endpoint answered 503' }])
    await expect(deliver(leadId, 2, 'scheduled')).rejects.toMatchObject({
      message: 'the next attempt is not due yet',
      type: 'Again',
    })
    expect(on.endpoint.arrivals).toHaveLength(1)
  })

  describe('to an endpoint that hangs', () => {
    const answers: (() => void)[] = []

    beforeEach(() => {
      answers.length = 0
      on.endpoint.answer = (_, response) => void answers.push(() => void response.writeHead(200).end())
    })

    it('answers without it, and the delivery waits for the same request', async () => {
      const { record, deliver, settled } = on.startProcess({ waitMs: 1 })
      expect(await record(leadId, [item('contract_signed')], upTo(1))).not.toHaveProperty('delivered')
      await on.endpoint.until((arrivals) => arrivals.length === 1)
      const delivering = deliver(leadId, 2, 'scheduled')
      answers[0]?.()
      expect(await delivering).toEqual({ outcome: 'delivered', next: 3, last: 2 })
      await settled()
      expect(on.endpoint.arrivals).toHaveLength(1)
    })

    it('only records once as many requests to its partner are under way as may', async () => {
      const { record } = on.startProcess({ waitMs: PATIENT_MS })
      const waiting = []
      for (let place = 1; place <= ENDPOINT_CAP; place += 1) {
        const other = await on.commitLead()
        waiting.push(record(other, [item('contract_signed')], upTo(1)))
        await on.endpoint.until((arrivals) => arrivals.length === place)
      }
      expect(await record(leadId, [item('contract_signed')], upTo(1))).toMatchObject({ last: 2 })
      expect(await deliveries()).toEqual([{ sequence: 2, ...untouched }])
      for (const answer of answers) answer()
      for (const recording of await Promise.all(waiting)) expect(recording).toMatchObject({ delivered: 2 })
    })
  })
})
