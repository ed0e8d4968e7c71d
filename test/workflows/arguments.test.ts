import { describe, expect, it } from '@jest/globals'
import { readMilestoneArgument } from '../../workflows/arguments.ts'

const gains = {
  experian_gain: 12,
  equifax_gain: 9,
  transunion_gain: 15,
  estimated_time_remaining: '30-60 days',
}

describe('the argument of a milestone’s signal', () => {
  it('may name an id and, for a score update, the gains', () => {
    const argument = { id: 'a-1', event_payload: gains }
    expect(readMilestoneArgument('score_update', argument)).toEqual({ id: 'a-1', gains, faults: [] })
    expect(readMilestoneArgument('escrow_funded', undefined)).toEqual({ faults: [] })
    expect(readMilestoneArgument('escrow_funded', { name: 'escrow_funded', id: 'a-1' }).faults).toEqual([])
  })

  it.each([
    [
      'score_update',
      gains,
      'of its argument, only id and event_payload count: gains belong into event_payload',
    ],
    ['contract_signed', { contract: 'C-7' }, 'of its argument, only id counts'],
    ['contract_signed', 'now', 'its argument was not understood: the milestone counts without it'],
    ['contract_signed', { id: 7 }, 'its id is not 1 to 255 visible ASCII characters: it counts without one'],
    ['contract_signed', { event_payload: gains }, 'takes no payload: it was dropped'],
    [
      'score_update',
      { event_payload: { ...gains, equifax_gain: 'nine' } },
      'its payload is not well-formed: the score provider is asked',
    ],
  ] as const)('of %s, what is dropped has a reason: %j', (name, argument, fault) => {
    const { faults, ...rest } = readMilestoneArgument(name, argument)
    expect(faults).toEqual([fault])
    expect(rest).toEqual({})
  })
})
