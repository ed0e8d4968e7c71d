import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { closeLead } from '../../src/leads/closing.ts'
import { prepareDelivering } from '../support/delivering.ts'

const GAINS = {
  experian_gain: 3,
  equifax_gain: 2,
  transunion_gain: 1,
  estimated_time_remaining: '30-60 days',
}
const UPDATE = { period: 1, dedupeKey: 'score_update:1' }

describe('a score update', () => {
  type Delivering = Awaited<ReturnType<typeof prepareDelivering>>
  let on: Delivering
  let leadId: number
  let asked: number[]
  let record: ReturnType<ReturnType<Delivering['startProcess']>['score']>

  beforeAll(async () => {
    on = await prepareDelivering()
  })

  beforeEach(async () => {
    leadId = await on.commitLead()
    asked = []
    record = on.startProcess().score(async (question) => {
      asked.push(question.leadId)
      return GAINS
    })
  })

  it('is recorded with what the provider says', async () => {
    expect(await record(leadId, UPDATE)).toMatchObject({ outcomes: [{ outcome: 'recorded' }] })
    expect(asked).toEqual([leadId])
  })

  it('of a lead that is closed asks nobody', async () => {
    await closeLead(on.sql, leadId, 'withdrew')
    expect(await record(leadId, UPDATE)).toMatchObject({ outcomes: [{ outcome: 'closed' }] })
    expect(asked).toEqual([])
  })
})
