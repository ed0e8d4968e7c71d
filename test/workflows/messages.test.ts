import { describe, expect, it } from '@jest/globals'
import { isSimulation, readCloseReason, readMilestoneArgument } from '../../workflows/messages.ts'

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
    ['score_update', gains, 'of its argument, only id and event_payload count'],
    ['contract_signed', { contract: 'C-7' }, 'of its argument, only id and event_payload count'],
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

  it.each([
    [{ ssn: 'Ada 1' }, 'its payload has fields that gains do not have: ssn'],
    [{ 'Ada Miller': { born: 1980 } }, 'its payload has fields that gains do not have: 1 with unusual names'],
    [
      Object.fromEntries(['Ada Miller', 'a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, {}])),
      'its payload has fields that gains do not have: a, b, c, d, e and 2 more',
    ],
  ])('leaves out what a payload has beside gains, and names it if that shows nothing: %j', (more, fault) => {
    const argument = { event_payload: { ...gains, ...more } }
    expect(readMilestoneArgument('score_update', argument)).toEqual({ gains, faults: [fault] })
  })
})

describe('the argument of the update that closes a lead', () => {
  it.each([
    [undefined, 'other'],
    [{ reason: 'withdrew', note: 'Ada Miller' }, 'withdrew'],
    [{ reason: 'mortgage_ready' }, 'other'],
    ['Ada Miller withdrew', 'other'],
  ])('gives a reason of the list, or other: %j', (argument, reason) => {
    expect(readCloseReason(argument)).toEqual(reason)
  })
})

describe('what a simulation asks for', () => {
  const simulation = { key: 'a-1', events: [{ name: 'contract_signed' }] }
  const requestId = '0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e'

  it('may name the request that asks for it, as the service gives one', () => {
    expect(isSimulation(simulation)).toBe(true)
    expect(isSimulation({ ...simulation, request_id: requestId })).toBe(true)
    for (const id of [null, 1, '', 'Ada Miller', `${requestId}\n`, requestId.toUpperCase()])
      expect(isSimulation({ ...simulation, request_id: id })).toBe(false)
  })

  it.each([[gains, true] as const, [{ ...gains, ssn: '078-05-1120' }, false] as const])(
    'may have gains and nothing beside them: %j',
    (given, expected) => {
      const events = [{ name: 'score_update', event_payload: given }]
      expect(isSimulation({ ...simulation, events })).toBe(expected)
    },
  )
})
