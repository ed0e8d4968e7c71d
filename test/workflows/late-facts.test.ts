import { beforeAll, describe, expect, it } from '@jest/globals'
import { WorkflowNotFoundError } from '@temporalio/client'
import { until } from '../support/until.ts'
import { sharedFixture, type Fixture } from './scenes.ts'

describe('after mortgage_ready', () => {
  let fixture: Fixture

  beforeAll(async () => {
    fixture = await sharedFixture()
  })

  /** A lead that has come to the end of its journey. */
  const ready = async () => {
    const leadId = await fixture.leads.start()
    await fixture.send(leadId, 'mortgage_ready')
    await fixture.arrived(leadId, 2)
    await until(async () => (await fixture.view(leadId)).next === 3)
    return leadId
  }

  it('a fact is recorded for 30 days, though an earlier life of the workflow recorded the journey', async () => {
    const leadId = await ready()
    const { endsAt } = await fixture.view(leadId)
    await fixture.handleOf(leadId).terminate()
    await fixture.send(leadId, 'contract_signed')
    await fixture.advance(leadId, 29)
    await fixture.send(leadId, 'client_engaged_in_chat')
    await fixture.leads.recorded(leadId, 'client_engaged_in_chat')
    expect(await fixture.view(leadId)).toMatchObject({ endsAt, closing: false })
    await fixture.arrived(leadId, 3)
    expect(await fixture.leads.names(leadId)).toEqual([
      'lead_received',
      'mortgage_ready',
      'contract_signed',
      'client_engaged_in_chat',
    ])
    expect(fixture.leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2, 3])
    await fixture.advance(leadId, 1)
    await expect(fixture.handleOf(leadId).result()).resolves.toBe('mortgage_ready')
  })

  it('a fact beyond 30 days is refused to strangers, and told as refused to our own senders', async () => {
    const leadId = await ready()
    await fixture.advance(leadId, 30)
    await expect(fixture.handleOf(leadId).result()).resolves.toBe('mortgage_ready')
    const late = () => fixture.handleOf(leadId).signal('client_engaged_in_chat')
    await expect(late()).rejects.toThrow(WorkflowNotFoundError)
    expect(await fixture.send(leadId, 'client_engaged_in_chat')).toBe(true)
    await fixture.handleOf(leadId).result()
    const { signals, notes } = await fixture.view(leadId)
    expect(signals).toMatchObject({ received: 1, recorded: 0, refused: 1 })
    expect(notes.map(({ what, why }) => `${what}: ${why}`)).toEqual([
      'client_engaged_in_chat: not recorded: the lead is closed',
    ])
    expect(await fixture.leads.names(leadId)).toEqual(['lead_received', 'mortgage_ready'])
    expect(fixture.leads.arrivals(leadId)).toHaveLength(2)
  })
})
