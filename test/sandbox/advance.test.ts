import { WorkflowUpdateFailedError } from '@temporalio/client'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { advanceId } from '../../src/capabilities/sandbox/decisions/lead-clock.ts'
import { clockStart } from '../../src/capabilities/sandbox/statements/move-clock.ts'
import { createClocks } from '../../src/capabilities/sandbox/workflows/clocks.ts'
import { SCORE_PERIOD_MS } from '../../src/core/leads/decisions/score-dates.ts'
import { loadReferralState } from '../../src/core/leads/statements/referral-states.ts'
import { referralId, TASK_QUEUE } from '../../src/core/temporal/names.ts'
import { DAY_MS } from '../../src/core/values/durations.ts'
import type { ReferralView } from '../../workflows/messages.ts'
import { leadsOf } from '../support/leads.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { LEAST_WAIT_MS, NotInTime, untilInTime } from './in-time.ts'
import { type SandboxPartner, sandboxPartner } from './partner.ts'

const YEAR = { days: 365 }
/** How long the lead's workflow waits for what is under way. */
const PATIENCE_SECONDS = 1
const SEQUENCES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

describe('an advance in the lead’s own workflow', () => {
  let service: SharedService
  let port: number | undefined
  let partner: SandboxPartner
  let lead: number

  beforeAll(async () => {
    service = await sharedService()
    ;({ port } = service)
  }, 60_000)

  async function begin(): Promise<void> {
    partner = await sandboxPartner(service, port)
    lead = await partner.createLead()
    await partner.simulate(lead, { event_name: 'escrow_funded' })
    await partner.endpoint.until(() => partner.arrivals(lead).length === 2)
  }
  beforeEach(begin)

  const handle = () => service.client.workflow.getHandle(referralId(lead))
  const answer = (status: (arrival: number) => number | Promise<number>) => {
    partner.endpoint.answer = (_, response) =>
      void Promise.resolve(status(partner.arrivals(lead).length)).then((code) =>
        response.writeHead(code).end(),
      )
  }
  const sequences = () => partner.arrivals(lead).map((event) => event.data.sequence)
  /** As they would be if one that was held had not been sent again: a busy machine may be slower than its 15 s. */
  const sequencesOnce = (held: number) =>
    sequences().filter((sequence, index, all) => sequence !== held || all[index - 1] !== held)
  const runs = () =>
    service.sql.selectFrom('sandbox_runs').select('kind').where('lead_id', '=', lead).execute()
  const standing = async () => (await partner.clock(lead)).data
  const stopped = () => until(async () => !(await standing()).moving)

  type Events = NonNullable<Awaited<ReturnType<ReturnType<typeof handle>['fetchHistory']>>['events']>
  /** Whether something was under way for longer than the lead's workflow waits, as on a busy machine. */
  function hasLostPatience(events: Events): boolean {
    const fired = new Set(events.map(({ timerFiredEventAttributes: timer }) => timer?.timerId))
    return events.some(
      ({ timerStartedEventAttributes: timer }) =>
        fired.has(timer?.timerId ?? '') && Number(timer?.startToFireTimeout?.seconds) === PATIENCE_SECONDS,
    )
  }

  /** What the workflow knows is what one that starts from the record would. */
  async function expectKnown(): Promise<void> {
    const record = await loadReferralState(service.sql, lead)
    const { anchor, period, offset, next, last, endsAt, lastEventAt } =
      await handle().query<ReferralView>('state')
    expect(record).toMatchObject({ anchor, period, offset, next, last, endsAt, lastEventAt })
  }

  it(
    'of a year takes one activity for each second, and no other workflow',
    untilInTime(begin, async () => {
      const began = performance.now()
      const { status, data } = await partner.advanceInTime(lead, YEAR)
      const seconds = (performance.now() - began) / 1000
      expect([status, data.status, data.happened.length]).toEqual([200, 'score_update', 16])
      expect(await runs()).toEqual([])
      const { events } = await handle().fetchHistory()
      if (hasLostPatience(events ?? [])) throw new NotInTime('something was under way for too long')
      const left = service.client.workflow.getHandle(advanceId(lead)).describe()
      await expect(left).rejects.toThrow('not found')
      const names = events?.flatMap(
        (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
      )
      const passes = names?.filter((name) => name === 'passDates').length
      expect(passes).toBeGreaterThan(0)
      expect(passes).toBeLessThanOrEqual(1 + Math.floor(seconds))
      expect(names).not.toContain('recordScoreUpdate')
      await expectKnown()
      // its own timer goes on from there
      const next = await partner.advanceInTime(lead, { to: 'next_score_update' })
      expect(next.data.happened.map(({ sequence }) => sequence)).toEqual([11, 11])
    }),
  )

  it(
    'is continued by a workflow of its own once a webhook is refused, and keeps each date',
    untilInTime(begin, async () => {
      answer((arrival) => (arrival === 4 ? 500 : 200))
      const { data } = await partner.advanceInTime(lead, YEAR)
      expect([data.status, data.stopped]).toEqual(['score_update', undefined])
      const dates = data.happened.filter(({ what }) => what === 'event').map(({ at }) => Date.parse(`${at}Z`))
      for (const [index, date] of dates.entries())
        expect(Math.abs(date - (dates[0] ?? 0) - index * SCORE_PERIOD_MS)).toBeLessThan(5000)
      const webhooks = data.happened.filter(({ what }) => what === 'webhook')
      expect(webhooks.map(({ sequence, attempt, status }) => [sequence, attempt, status])).toEqual([
        [3, 1, 200],
        [4, 1, 500],
        [4, 2, 200],
        ...[5, 6, 7, 8, 9, 10].map((sequence) => [sequence, 1, 200]),
      ])
      expect(data.happened.map(({ at }) => at)).toEqual(data.happened.map(({ at }) => at).toSorted())
      await service.client.workflow.getHandle(advanceId(lead)).result()
      expect(await runs()).toEqual([])
      await expectKnown()
    }),
  )

  it('has room for milestones that are simulated meanwhile', async () => {
    const held = Promise.withResolvers<number>()
    answer((arrival) => (arrival === 4 ? held.promise : 200))
    const advancing = partner.advance(lead, YEAR)
    await partner.endpoint.until(() => partner.arrivals(lead).length === 4)
    const simulated = partner.simulate(lead, { event_name: 'contract_signed' })
    await leadsOf(service, partner).recorded(lead, 'contract_signed')
    held.resolve(200)
    expect([(await simulated).status, (await advancing).status]).toEqual([200, 200])
    await stopped()
    await partner.endpoint.until(() => sequencesOnce(4).length === 11)
    expect(sequencesOnce(4)).toEqual([...SEQUENCES, 11])
    await expectKnown()
  })

  it('ends with the lead, if that is closed meanwhile', async () => {
    const held = Promise.withResolvers<number>()
    answer((arrival) => (arrival === 4 ? held.promise : 200))
    const advancing = partner.advance(lead, YEAR)
    await partner.endpoint.until(() => partner.arrivals(lead).length === 4)
    await service.referrals.close(lead, 'other')
    held.resolve(200)
    const { status, data } = await advancing
    expect([status, data.happened.at(-1)?.what]).toEqual([200, 'end'])
    await stopped()
    await handle().result()
    expect(
      (await leadsOf(service, partner).names(lead)).filter((name) => name === 'score_update').length,
    ).toBeLessThan(4)
  })

  it(
    'is another workflow’s while the lead’s does not run',
    untilInTime(begin, async () => {
      await handle().terminate()
      const { status, data } = await partner.advanceInTime(lead, YEAR)
      expect([status, data.status]).toEqual([200, 'score_update'])
      expect(sequences()).toEqual(SEQUENCES)
      await expectKnown()
    }),
  )

  it('is the only one: a scenario waits for it', async () => {
    const held = Promise.withResolvers<number>()
    answer((arrival) => (arrival === 3 ? held.promise : 200))
    const advancing = partner.advance(lead, { days: 50 })
    await partner.endpoint.until(() => partner.arrivals(lead).length === 3)
    expect((await standing()).moving).toBe(true)
    expect((await partner.advance(lead, { days: 1 })).error?.code).toBe('CLOCK_MOVING')
    const played = partner.post('sandbox/run-scenario', { scenario: 'stalled_before_escrow', lead_id: lead })
    await until(async () => (await runs()).length === 2)
    held.resolve(200)
    expect([(await advancing).status, (await played).status]).toEqual([200, 200])
    await until(async () => (await runs()).length === 0)
    const { offset_seconds: offset } = await standing()
    // 50 days of the advance, and 124 of the scenario
    expect(Math.round(offset / 86_400)).toBe(174)
  }, 60_000)

  it('takes no place where a scenario moves the clock', async () => {
    const held = Promise.withResolvers<number>()
    answer((arrival) => (arrival === 3 ? held.promise : 200))
    const played = partner.post('sandbox/run-scenario', { scenario: 'stalled_before_escrow', lead_id: lead })
    const moving = service.client.workflow.getHandle(advanceId(lead))
    await until(() => moving.describe().catch(() => undefined))
    expect((await partner.advance(lead, { days: 1 })).error?.code).toBe('CLOCK_MOVING')
    expect(await runs()).toEqual([{ kind: 'scenario' }])
    held.resolve(200)
    expect((await played).status).toBe(200)
  })

  it('goes on when the API is killed', async () => {
    const api = await service.startApi()
    const other = await sandboxPartner({ ...service, addPartner: async () => partner }, api.port)
    const held = Promise.withResolvers<number>()
    answer((arrival) => (arrival === 3 ? held.promise : 200))
    const advancing = other.advance(lead, YEAR).catch(() => undefined)
    await partner.endpoint.until(() => partner.arrivals(lead).length === 3)
    await api.stop()
    held.resolve(200)
    await advancing
    await partner.endpoint.until(() => sequencesOnce(3).length === 10)
    await stopped()
    expect(sequencesOnce(3)).toEqual(SEQUENCES)
    await expectKnown()
  })

  describe('while the endpoint keeps a webhook waiting', () => {
    let held: PromiseWithResolvers<number>
    const advanceOf = () => service.client.workflow.getHandle(advanceId(lead))
    const underWay = () =>
      until(async () =>
        advanceOf()
          .describe()
          .catch(() => undefined),
      )

    beforeEach(async () => {
      held = Promise.withResolvers<number>()
      answer((arrival) => (arrival === 3 ? held.promise : 200))
      await service.referrals.signal(lead, 'contract_signed')
      await partner.endpoint.until(() => partner.arrivals(lead).length === 3)
    })

    it('says where the clock stands, if an operator terminates it', async () => {
      const advancing = partner.advance(lead, { to: 'next_retry' })
      await underWay()
      await advanceOf().terminate()
      const { status, data } = await advancing
      expect([status, data.lead_id, data.status]).toEqual([200, lead, 'escrow_funded'])
      await stopped()
      held.resolve(200)
    })

    it('knows the lead no more, if that is erased', async () => {
      const advancing = partner.advance(lead, { to: 'next_retry' })
      await underWay()
      const erased = await partner.post('erase-lead', { lead_id: lead, reason: 'borrower_request' })
      expect([erased.status, (await advancing).status]).toEqual([200, 404])
      held.resolve(200)
    })

    it('goes on to its own date after one to an earlier date', async () => {
      const client = service.client
      const start = client.workflow.start.bind(client.workflow)
      const since = await clockStart(service.sql, lead)
      const args = [lead, Date.now() + DAY_MS, since]
      await start('advance', { workflowId: advanceId(lead), taskQueue: TASK_QUEUE, args })
      const refused = Promise.withResolvers<void>()
      const observed = Object.create(client, {
        workflow: {
          value: Object.create(client.workflow, {
            start: {
              value: async (...given: Parameters<typeof start>) =>
                start(...given).catch((error: unknown) => {
                  refused.resolve()
                  throw error
                }),
            },
          }),
        },
      }) as typeof client
      const began = performance.now()
      const advancing = createClocks({ client: observed, sql: service.sql }).advance(lead, { days: 50 })
      // it is the other's end that it waits for from here on
      await refused.promise
      held.resolve(200)
      const advanced = await advancing
      // a busy machine may take longer than the answer waits
      const isLate = advanced?.kind === 'advancing' && performance.now() - began >= LEAST_WAIT_MS
      const arrived = { kind: 'done', clock: { status: 'score_update' } }
      expect(advanced).toMatchObject(isLate ? { kind: 'advancing' } : arrived)
      await stopped()
      expect((await standing()).status).toBe('score_update')
      expect(Math.round((await standing()).offset_seconds / 86_400)).toBe(50)
    })
  })

  it('in a sandbox only, and of nothing but an advance', async () => {
    for (const request of [undefined, { target: 'soon' }, { target: Date.now(), since: null }])
      await expect(handle().executeUpdate('advance_clock', { args: [request] })).rejects.toThrow(
        WorkflowUpdateFailedError,
      )
    expect((await standing()).offset_seconds).toBe(0)
  })
})
