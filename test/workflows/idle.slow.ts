import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import proto from '@temporalio/proto'
import { putClockAhead } from '../support/clock.ts'
import { startMailServer } from '../support/mail-server.ts'
import { published } from '../support/published.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { startScoreServer } from '../support/score-server.ts'
import { temporalProxy } from '../support/temporal-proxy.ts'
import { until } from '../support/until.ts'
import { resetPointOf } from '../../src/core/temporal/reset-point.ts'
import { repair } from '../../src/core/temporal/repair.ts'
import { milestoneUpdate, type ReferralView } from '../../workflows/messages.ts'
import { prepareService } from '../support/service.ts'
import { type Fixture, fixtureOf, sharedFixture } from './scenes.ts'

const { RespondWorkflowTaskCompletedRequest } = proto.temporal.api.workflowservice.v1
const CHAT = 'client_engaged_in_chat'
const anId: [string, object] = [CHAT, { id: 'a' }]
const PERIOD_S = 45 * 24 * 60 * 60
/** A younger run does not end, because Temporal would keep the next one waiting. */
const SHORTEST_RUN_MS = 2000
/** As many as the tests below take, with two attempts to spare. */
const LEADS = 19
/** Started, its first workflow task, and the timer of the next score update. */
const LEAST_EVENTS = 5

/** How long an update takes to the server, which tells nobody that it has it before a worker does. */
const UPDATE_MS = 300
/** Why the server refuses the end of a run: something has arrived meanwhile. */
const UNHANDLED_COMMAND = 1
/** The call with which a worker ends a run, or whatever else a workflow task comes to. */
const TASK_DONE = 'RespondWorkflowTaskCompleted'

/** Whether a task comes to the next run of this lead. */
function endsRunOf(leadId: number, request: Buffer): boolean {
  const { commands } = RespondWorkflowTaskCompletedRequest.decode(request)
  return commands.some(({ continueAsNewWorkflowExecutionCommandAttributes: next }) => {
    const state = next?.input?.payloads?.[0]?.data
    return state && JSON.parse(Buffer.from(state).toString()).leadId === leadId
  })
}

describe('a lead that is idle after a score update', () => {
  let fixture: Fixture
  let scores: Awaited<ReturnType<typeof startScoreServer>>
  let mails: Awaited<ReturnType<typeof startMailServer>>
  let worker: ServiceProcess
  let waiting: { leadId: number; runId: string }[]
  /** Holds the end of a lead's run: told of it. */
  let held: { leadId: number; reached: () => void; released: Promise<void> } | undefined

  beforeAll(async () => {
    ;[scores, mails] = await Promise.all([startScoreServer(), startMailServer()])
    const service = await prepareService({
      SCORE_PROVIDER_URL: scores.url,
      SMTP_URL: mails.url,
      SMTP_CATCHER: 'true',
      ONBOARDING_MAILS_PER_ADDRESS: '0',
    })
    fixture = fixtureOf(service, await service.addPartner())
    const proxy = await temporalProxy(service.environment.TEMPORAL_ADDRESS, async (call, request) => {
      if (call !== TASK_DONE || held === undefined || !endsRunOf(held.leadId, request)) return
      held.reached()
      await held.released
    })
    startWorker = () => service.startWorker({ TEMPORAL_ADDRESS: proxy })
    worker = await startWorker()
    waiting = await Promise.all(Array.from({ length: LEADS }, score))
    await until(async () => (await unmailed()).length === 0)
    await delay(SHORTEST_RUN_MS)
  })

  beforeEach(() => {
    fixture.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
  })

  let startWorker: () => Promise<ServiceProcess>
  const unmailed = () =>
    fixture.service.sql.selectFrom('leads').select('id').where('onboarding_sent_at', 'is', null).execute()
  const handleOf = (leadId: number, runId?: string) =>
    fixture.service.client.workflow.getHandle(`lead-${leadId}`, runId)
  const runOf = async (leadId: number) => (await handleOf(leadId).describe()).runId
  const view = (leadId: number) => handleOf(leadId).query<ReferralView>('state')
  const sequences = (leadId: number) => fixture.leads.arrivals(leadId).map(({ event }) => event.data.sequence)
  const settled = (leadId: number, count: number) =>
    until(async () => (await view(leadId)).next === count + 1)
  const detailsOf = async (leadId: number) => {
    const metadata = await handleOf(leadId).query<{ currentDetails: string }>('__temporal_workflow_metadata')
    return metadata.currentDetails
  }
  const eventsOf = async (leadId: number, runId?: string) =>
    (await handleOf(leadId, runId).fetchHistory()).events ?? []
  const continued = async (leadId: number, runId: string) => {
    const next = await until(async () => {
      const run = await runOf(leadId)
      return run !== runId && run
    })
    expect((await handleOf(leadId, runId).describe()).status.name).toBe('CONTINUED_AS_NEW')
    return next
  }

  /** A lead whose next score update is 45 days away; answers its number and run. */
  async function score() {
    const leadId = await fixture.leads.start()
    await fixture.send(leadId, 'escrow_funded')
    await fixture.arrived(leadId, 2)
    await settled(leadId, 2)
    return { leadId, runId: await runOf(leadId) }
  }

  /** One of the leads that waited together, for as long as a run must have lasted. */
  function scored() {
    const lead = waiting.pop()
    if (lead === undefined) throw new Error('LEADS is less than the tests take.')
    return lead
  }

  /** Lets 45 days pass on the lead's clock, as an advance does. */
  async function passPeriod(leadId: number, periods = 1): Promise<void> {
    await putClockAhead(fixture.service.sql, leadId, PERIOD_S)
    await fixture.send(leadId, 'clock_moved', { offset: periods * PERIOD_S * 1000 })
  }

  /** Stops the worker's call that ends the lead's run; answers how to let it go. */
  async function reachEnd(leadId: number) {
    const asked = scores.asked.length
    const answered = Promise.withResolvers<void>()
    scores.answering = answered.promise
    await passPeriod(leadId)
    await until(async () => scores.asked.length > asked)
    const reached = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    held = { leadId, reached: reached.resolve, released: released.promise }
    answered.resolve()
    await reached.promise
    return () => {
      held = undefined
      released.resolve()
    }
  }

  it('begins another history, at each of them', async () => {
    const { leadId, runId: first } = scored()
    await passPeriod(leadId)
    await fixture.arrived(leadId, 3)
    const second = await continued(leadId, first)
    await delay(SHORTEST_RUN_MS)
    await passPeriod(leadId, 2)
    await fixture.arrived(leadId, 4)
    const third = await continued(leadId, second)
    const events = await until(async () => {
      const all = await eventsOf(leadId, third)
      return all.length >= LEAST_EVENTS && all
    })
    expect(events).toHaveLength(LEAST_EVENTS)
    expect(events[0]?.workflowExecutionStartedEventAttributes).toMatchObject({
      firstExecutionRunId: first,
      continuedExecutionRunId: second,
    })
    expect(await fixture.leads.names(leadId)).toEqual([
      'lead_received',
      'escrow_funded',
      'score_update',
      'score_update',
    ])
    expect(sequences(leadId)).toEqual([1, 2, 3, 4])
  })

  it('keeps a run that has just begun, so that a sandbox’s year is not slowed down', async () => {
    const isKept = async () => {
      const { leadId, runId } = scored()
      await passPeriod(leadId)
      await fixture.arrived(leadId, 3)
      const second = await continued(leadId, runId)
      await passPeriod(leadId, 2)
      await fixture.arrived(leadId, 4)
      await settled(leadId, 4)
      if ((await runOf(leadId)) === second) return true
      // on a busy machine, the second period may take so long that the run is old enough to end
      const { startTime, closeTime } = await handleOf(leadId, second).describe()
      expect(Number(closeTime) - startTime.getTime()).toBeGreaterThanOrEqual(SHORTEST_RUN_MS)
      return false
    }
    expect((await isKept()) || (await isKept()) || (await isKept())).toBe(true)
  })

  it('says the same as before', async () => {
    const { leadId, runId } = scored()
    await fixture.send(leadId, 'escrow_funded')
    await until(async () => (await view(leadId)).signals.repeated === 1)
    await passPeriod(leadId)
    await fixture.arrived(leadId, 3)
    await continued(leadId, runId)
    const { anchor, signals } = await view(leadId)
    expect(signals).toMatchObject({ received: 2, recorded: 1, repeated: 1 })
    const details = await detailsOf(leadId)
    expect(details).toContain(`**Lead ${leadId}** of partner ${fixture.partner.id} is at **score_update**`)
    expect(details).toContain('`escrow_funded` already recorded: nothing changed')
    expect(details).toContain(`**Earlier history**: in run \`${runId}\``)
    expect(await published(handleOf(leadId))).toMatchObject({
      LeadId: leadId,
      PartnerId: fixture.partner.id,
      LeadStatus: 'score_update',
      DeliveryState: 'ok',
      NextScoreUpdateAt: new Date((anchor ?? 0) + 2 * PERIOD_S * 1000),
    })
    const { memo } = await handleOf(leadId).describe()
    expect(memo).toEqual((await handleOf(leadId, runId).describe()).memo)
  })

  it.each<[string, { sent: [string, object?][]; recorded: string[] }]>([
    ['a milestone', { sent: [['contract_signed']], recorded: ['contract_signed'] }],
    ['a milestone and its repeat', { sent: [anId, anId], recorded: [CHAT] }],
    ['two kinds of milestones', { sent: [anId, ['contract_signed']], recorded: [CHAT, 'contract_signed'] }],
    ['news of nothing', { sent: [['wake'], ['read_record'], ['send_now']], recorded: [] }],
  ])('loses and doubles nothing of %s sent as its run ends', async (_, { sent, recorded }) => {
    const { leadId, runId } = scored()
    const release = await reachEnd(leadId)
    for (const [name, argument] of sent) await fixture.send(leadId, name, argument)
    release()
    await continued(leadId, runId)
    const ended = await eventsOf(leadId, runId)
    const refusals = ended.map((event) => event.workflowTaskFailedEventAttributes?.cause)
    expect(refusals).toContain(UNHANDLED_COMMAND)
    for (const [name, argument] of sent) await fixture.send(leadId, name, argument)
    await fixture.send(leadId, 'mortgage_ready')
    await fixture.leads.recorded(leadId, 'mortgage_ready')
    const names = ['lead_received', 'escrow_funded', 'score_update', ...recorded, 'mortgage_ready']
    expect(await fixture.leads.names(leadId)).toEqual(names)
    const webhooks = names.filter((name) => name !== CHAT).map((__, index) => index + 1)
    await fixture.arrived(leadId, webhooks.length)
    expect(sequences(leadId)).toEqual(webhooks)
  })

  it('answers a milestone that asks for its answer as its run ends', async () => {
    const { leadId } = scored()
    const release = await reachEnd(leadId)
    const asked = handleOf(leadId).executeUpdate(milestoneUpdate, { args: [{ name: CHAT, id: 'a' }] })
    await delay(UPDATE_MS)
    release()
    await expect(asked).resolves.toMatchObject({ outcome: 'recorded' })
    const again = handleOf(leadId).executeUpdate(milestoneUpdate, { args: [{ name: CHAT, id: 'a' }] })
    await expect(again).resolves.toMatchObject({ outcome: 'repeated' })
    expect((await fixture.leads.names(leadId)).slice(2)).toEqual(['score_update', CHAT])
  })

  it.each([
    ['closed', (leadId: number) => fixture.send(leadId, 'close', { reason: 'withdrew' }), 'withdrew'],
    ['canceled', (leadId: number) => handleOf(leadId).cancel(), 'canceled'],
  ])('is %s as its run ends', async (_, end, reason) => {
    const { leadId } = scored()
    const release = await reachEnd(leadId)
    await end(leadId)
    release()
    await expect(handleOf(leadId).result()).resolves.toBe(reason)
    const lead = fixture.service.sql.selectFrom('leads').select('close_reason').where('id', '=', leadId)
    expect(await lead.executeTakeFirst()).toEqual({ close_reason: reason })
    expect(sequences(leadId)).toEqual([1, 2, 3])
  })

  it('is not idle while a webhook is refused, and is once it is accepted', async () => {
    const { leadId, runId } = scored()
    fixture.partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
    await passPeriod(leadId)
    await until(async () => (await view(leadId)).failure !== null)
    await fixture.send(leadId, CHAT)
    await fixture.leads.recorded(leadId, CHAT)
    expect(await runOf(leadId)).toBe(runId)
    fixture.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await fixture.send(leadId, 'send_now')
    await continued(leadId, runId)
    expect((await view(leadId)).next).toBe(4)
  })

  it('is not idle while its endpoint is paused', async () => {
    const { leadId, runId } = scored()
    await fixture.setEndpoint('paused')
    await passPeriod(leadId)
    await until(async () => (await view(leadId)).held)
    await fixture.send(leadId, CHAT)
    await fixture.leads.recorded(leadId, CHAT)
    expect(await runOf(leadId)).toBe(runId)
    await fixture.setEndpoint('active')
    await fixture.send(leadId, 'wake')
    await continued(leadId, runId)
    await fixture.arrived(leadId, 3)
  })

  it('is not idle while its onboarding email is under way', async () => {
    const taken = Promise.withResolvers<void>()
    mails.answering = taken.promise
    const { leadId, runId } = await score()
    await delay(SHORTEST_RUN_MS)
    await passPeriod(leadId)
    await fixture.arrived(leadId, 3)
    await fixture.send(leadId, CHAT)
    await fixture.leads.recorded(leadId, CHAT)
    expect(await runOf(leadId)).toBe(runId)
    taken.resolve()
    await continued(leadId, runId)
  })

  it('is not idle while the next score update is due within a minute', async () => {
    const { leadId, runId } = scored()
    const soon = 2 * PERIOD_S - 50
    await putClockAhead(fixture.service.sql, leadId, soon)
    await fixture.send(leadId, 'clock_moved', { offset: soon * 1000 })
    await fixture.arrived(leadId, 3)
    await fixture.send(leadId, CHAT)
    await fixture.leads.recorded(leadId, CHAT)
    expect(await runOf(leadId)).toBe(runId)
    await putClockAhead(fixture.service.sql, leadId, 50)
    await fixture.send(leadId, 'clock_moved', { offset: 2 * PERIOD_S * 1000 })
    await continued(leadId, runId)
    await fixture.arrived(leadId, 4)
  })

  it.each<[string, (leadId: number) => Promise<unknown>]>([
    ['by the timer', passPeriod],
    ['by a signal', (leadId) => fixture.send(leadId, 'score_update')],
  ])('is not idle while scores are asked for %s, however long its history is', async (_, ask) => {
    const { leadId, runId } = scored()
    const asked = scores.asked.length
    const answered = Promise.withResolvers<void>()
    scores.answering = answered.promise
    await ask(leadId)
    await until(async () => scores.asked.length > asked)
    while (((await handleOf(leadId, runId).describe()).historyLength ?? 0) < 140)
      await handleOf(leadId).executeUpdate(milestoneUpdate, { args: [{ name: CHAT }] })
    expect(await runOf(leadId)).toBe(runId)
    answered.resolve()
    await continued(leadId, runId)
    await fixture.arrived(leadId, 3)
    expect((await fixture.leads.names(leadId)).filter((name) => name === 'score_update')).toHaveLength(1)
  })

  it('is reset in its latest run, and repeats nothing', async () => {
    const { leadId, runId } = scored()
    await passPeriod(leadId)
    await fixture.arrived(leadId, 3)
    const next = await continued(leadId, runId)
    await fixture.send(leadId, CHAT)
    await fixture.leads.recorded(leadId, CHAT)
    const { build } = (await until(async () => resetPointOf(await eventsOf(leadId, next)))) ?? {}
    expect(await repair(fixture.service.client, `lead-${leadId}`, build)).toBe('reset')
    await fixture.send(leadId, 'mortgage_ready')
    await fixture.arrived(leadId, 4)
    expect(await fixture.leads.names(leadId)).toEqual([
      'lead_received',
      'escrow_funded',
      'score_update',
      CHAT,
      'mortgage_ready',
    ])
    expect(sequences(leadId)).toEqual([1, 2, 3, 4])
  })

  // the last, because Temporal gives others’ tasks to the killed worker for a while
  it('goes on with another worker, if its own is killed as its run ends', async () => {
    const { leadId, runId } = scored()
    const release = await reachEnd(leadId)
    await worker.kill()
    release()
    await fixture.send(leadId, CHAT, { id: 'a' })
    worker = await startWorker()
    await continued(leadId, runId)
    await passPeriod(leadId, 2)
    await fixture.arrived(leadId, 4)
    expect(await fixture.leads.names(leadId)).toEqual([
      'lead_received',
      'escrow_funded',
      'score_update',
      CHAT,
      'score_update',
    ])
    expect(sequences(leadId)).toEqual([1, 2, 3, 4])
  })
})

describe('a lead of whom many milestones come', () => {
  it('begins another history once its own is long, and it is idle', async () => {
    const fixture = await sharedFixture()
    const { service } = fixture
    const leadId = await fixture.leads.start()
    const handle = service.client.workflow.getHandle(`lead-${leadId}`)
    const { runId } = await handle.describe()
    await delay(SHORTEST_RUN_MS)
    let sent = 0
    while ((await handle.describe()).runId === runId) {
      await service.referrals.record(leadId, { name: CHAT, id: String((sent += 1)) })
    }
    const former = await service.client.workflow.getHandle(`lead-${leadId}`, runId).describe()
    expect(former.historyLength).toBeGreaterThanOrEqual(128)
    expect(former.historyLength).toBeLessThan(180)
    expect(await fixture.leads.names(leadId)).toHaveLength(sent + 1)
  })
})
