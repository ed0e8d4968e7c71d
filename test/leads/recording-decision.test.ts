import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { type MilestoneName, milestones, signalledMilestones, statuses } from '../../src/leads/milestones.ts'
import { mockGains } from '../../src/leads/event-payloads.ts'
import { decideMilestones, type KnownStanding, MOST_EVENTS } from '../../src/leads/recording-decision.ts'
import type { MilestoneItem } from '../../src/leads/referral-state.ts'

const now = new Date('2026-01-01T00:00:00Z')
const lead: KnownStanding = {
  id: 7,
  now,
  known: {},
  scoreUpdates: 0,
  status: 'lead_received',
  nextPosition: 2,
  nextSequence: 2,
  anchorAt: null,
  readyAt: null,
  lastEventAt: new Date(now.getTime() - 1000),
  isClosed: false,
}
const gains = {
  experian_gain: 1,
  equifax_gain: 2,
  transunion_gain: 3,
  estimated_time_remaining: '30-60 days',
}
const item = (name: MilestoneName, dedupeKey: string = name): MilestoneItem => ({ name, dedupeKey })
const decide = (change: Partial<typeof lead>, items: MilestoneItem[], isSandbox = false) => {
  let count = 0
  const newEventId = () => `evt_${(count += 1)}`
  return decideMilestones({ ...lead, ...change }, items, { newEventId, isSandbox })
}

describe('what becomes of milestones', () => {
  test.each<[string, Partial<typeof lead>, MilestoneItem, string]>([
    ['a new one is recorded', {}, item('contract_signed'), 'recorded'],
    ['one that is known is repeated', {}, item('escrow_funded'), 'repeated'],
    [
      'one that is known is repeated, also of a closed lead',
      { isClosed: true },
      item('escrow_funded'),
      'repeated',
    ],
    ['a closed lead takes none', { isClosed: true }, item('contract_signed'), 'closed'],
    [
      'the timer’s ends with the journey',
      { status: 'mortgage_ready' },
      item('score_update', 'score_update#2'),
      'mortgage_ready',
    ],
    [
      'a signalled one does not',
      { status: 'mortgage_ready' },
      item('score_update', 'score_update:a'),
      'recorded',
    ],
  ])('%s', (_, change, sent, outcome) => {
    const known = { escrow_funded: 'evt_known' }
    expect(decide({ known, ...change }, [sent]).outcomes[0]?.outcome).toBe(outcome)
  })

  test('a sandbox records the thousandth event of a lead and no further one, but for the timer’s', () => {
    const chats = ['a', 'b'].map((key) => item('client_engaged_in_chat', key))
    const sent = [...chats, item('score_update', 'score_update#1')]
    const outcomesOf = (isSandbox: boolean) =>
      decide({ nextPosition: MOST_EVENTS }, sent, isSandbox).outcomes.map(({ outcome }) => outcome)
    expect(outcomesOf(true)).toEqual(['recorded', 'full', 'recorded'])
    expect(outcomesOf(false)).toEqual(['recorded', 'recorded', 'recorded'])
  })

  test('mock gains follow from the lead and the number of the score update', () => {
    const mocked = { ...item('score_update', 'b'), simulated: true as const }
    const sent = [{ ...item('score_update', 'a'), gains }, mocked, { ...mocked, dedupeKey: 'c' }]
    const { events } = decide({ scoreUpdates: 2 }, sent, true)
    expect(events.map(({ payload }) => payload)).toEqual([gains, mockGains(7, 4), mockGains(7, 5)])
    expect(mockGains(7, 4)).not.toEqual(mockGains(7, 5))
    expect(mockGains(8, 4)).not.toEqual(mockGains(7, 4))
  })

  test('each has a date of its own, and none goes back', () => {
    const at = (ms: number) => now.getTime() + ms
    const sent = [
      { ...item('escrow_funded'), at: at(5000) },
      { ...item('score_update', 'a'), at: at(9000), gains },
      { ...item('score_update', 'b'), at: at(7000) },
      item('mortgage_ready'),
    ]
    const { events, lead: after } = decide({}, sent)
    expect(events.map(({ createdAt }) => createdAt.getTime())).toEqual([
      at(5000),
      at(9000),
      at(9000),
      at(9000),
    ])
    expect(after).toMatchObject({
      anchorAt: new Date(at(5000)),
      readyAt: new Date(at(9000)),
      lastEventAt: new Date(at(9000)),
    })
  })

  test('a request is kept as what the service gives one, and nothing else', () => {
    const requestId = '0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e'
    const given = [requestId, 'Ada Miller', `${requestId} `, '']
    const items = given.map((id, index) => ({
      ...item('client_engaged_in_chat', `chat:${index}`),
      requestId: id,
    }))
    const { events } = decide({}, [...items, item('contract_signed')])
    expect(events.map((event) => event.requestId)).toEqual([requestId, null, null, null, null])
  })

  test('only a score update carries gains, and nothing beside them', () => {
    const sent = [
      // whatever handed it on
      { ...item('score_update', 'a'), gains: { ...gains, ssn: '078-05-1120' } },
      { ...item('contract_signed'), gains },
      item('score_update', 'b'),
    ]
    expect(decide({}, sent).events.map(({ payload }) => payload)).toEqual([gains, null, null])
  })

  test('positions and sequences have no gap, the status never goes back, and what is written is what is answered', () => {
    const any = fc.record({ name: fc.constantFrom(...signalledMilestones), key: fc.nat({ max: 5 }) })
    fc.assert(
      fc.property(fc.array(fc.array(any, { maxLength: 8 }), { maxLength: 8 }), (batches) => {
        let standing = lead
        const known: Record<string, string> = {}
        const positions: number[] = []
        const sequences: number[] = []
        for (const batch of batches) {
          const items = batch.map(({ name, key }) =>
            item(name, milestones[name].once ? name : `${name}:${key}`),
          )
          const decision = decide(standing, items)
          for (const { dedupeKey, eventId, position, sequence } of decision.events) {
            expect(known).not.toHaveProperty([dedupeKey])
            known[dedupeKey] = eventId
            positions.push(position)
            if (sequence !== undefined) sequences.push(sequence)
          }
          const rank = (name: MilestoneName) => statuses.indexOf(name)
          expect(rank(decision.lead.status)).toBeGreaterThanOrEqual(rank(standing.status))
          standing = { ...lead, ...decision.lead, known }
          const again = decide(standing, items)
          expect(again.events).toEqual([])
          expect(again.lead).toEqual(decision.lead)
        }
        expect(positions).toEqual(positions.map((_, index) => index + 2))
        expect(sequences).toEqual(sequences.map((_, index) => index + 2))
        expect(standing).toMatchObject({
          nextPosition: positions.length + 2,
          nextSequence: sequences.length + 2,
        })
      }),
    )
  })
})
