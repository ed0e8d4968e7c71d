import { beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import type { ReferralView } from '../../workflows/messages.ts'
import { startMailServer } from '../support/mail-server.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import { published } from '../support/published.ts'
import { holdRow } from '../support/row-lock.ts'
import { startScoreServer } from '../support/score-server.ts'
import { until } from '../support/until.ts'
import { prepareFixture, type Fixture } from './scenes.ts'

/** Events after which the server suggests to continue as new; it is 4,096 by default. */
const SUGGESTED_AFTER = 60
/** More than that in any case: each of them is an event. */
const ENOUGH = SUGGESTED_AFTER + 5
const CHAT = 'client_engaged_in_chat'

/** Brings a lead into an activity that then stands still; answers how to let it go. */
type Enter = (leadId: number) => Promise<() => unknown>

describe('a run that continues as new', () => {
  let fixture: Fixture
  let mails: Awaited<ReturnType<typeof startMailServer>>
  let scores: Awaited<ReturnType<typeof startScoreServer>>

  beforeAll(async () => {
    const [temporal, ...outside] = await Promise.all([
      ownTemporal([`limit.historyCount.suggestContinueAsNew=${SUGGESTED_AFTER}`]),
      startMailServer(),
      startScoreServer(),
    ])
    ;[mails, scores] = outside
    fixture = await prepareFixture({
      TEMPORAL_ADDRESS: temporal.address,
      SMTP_URL: mails.url,
      ONBOARDING_MAILS_PER_ADDRESS: '0',
      SMTP_CATCHER: 'true',
      SCORE_PROVIDER_URL: scores.url,
    })
  }, 60_000)

  const handleOf = (leadId: number, runId?: string) =>
    fixture.service.client.workflow.getHandle(`lead-${leadId}`, runId)
  const runOf = async (leadId: number) => (await handleOf(leadId).describe()).runId
  const view = (leadId: number) => handleOf(leadId).query<ReferralView>('state')
  const continued = async (leadId: number, runId: string) => {
    await until(async () => (await runOf(leadId)) !== runId)
    expect((await handleOf(leadId, runId).describe()).status.name).toBe('CONTINUED_AS_NEW')
  }
  /** The latest first, as Temporal lists them, once it does. */
  const runsUpTo = async (leadId: number, runId: string) => {
    let runs: string[] = []
    await until(async () => {
      runs = []
      const query = `WorkflowId = 'lead-${leadId}'`
      for await (const run of fixture.service.client.workflow.list({ query })) runs.push(run.runId)
      return runs.includes(runId)
    })
    return runs.slice(runs.indexOf(runId))
  }
  const events = (leadId: number) =>
    fixture.service.sql
      .selectFrom('lead_events')
      .select(['event_name', 'dedupe_key'])
      .where('lead_id', '=', leadId)
      .orderBy('position')
      .execute()
  /** The lead's events apart from chats, and the chats by their ids, each in order. */
  const recorded = async (leadId: number) => {
    const rows = await events(leadId)
    return {
      names: rows.map((row) => row.event_name).filter((name) => name !== CHAT),
      chats: rows.filter((row) => row.event_name === CHAT).map((row) => row.dedupe_key),
    }
  }
  const chats = Array.from({ length: ENOUGH }, (_, index) => `${CHAT}:${index}`)
  const chat = (leadId: number, from: number, to: number) =>
    chats.slice(from, to).reduce<Promise<unknown>>(async (before, key) => {
      await before
      await fixture.send(leadId, CHAT, { id: key.slice(CHAT.length + 1) })
    }, Promise.resolve())

  const inDelivery: Enter = async (leadId) => {
    const answered = Promise.withResolvers<void>()
    fixture.partner.endpoint.answer = (_, response) =>
      void answered.promise.then(() => response.writeHead(200).end())
    await fixture.send(leadId, 'contract_signed')
    await fixture.arrived(leadId, 2)
    return answered.resolve
  }
  const hold = (server: { answering: Promise<void> }) => {
    const answered = Promise.withResolvers<void>()
    server.answering = answered.promise
    return answered.resolve
  }
  const inScoring = (ask: (leadId: number) => Promise<unknown>): Enter => {
    return async (leadId) => {
      const release = hold(scores)
      await ask(leadId)
      await until(async () => scores.asked.some((question) => question.lead_id === leadId))
      return release
    }
  }

  const inside: Record<string, { enter: Enter; leaves: string[] }> = {
    deliverWebhook: { enter: inDelivery, leaves: ['contract_signed'] },
    'recordScoreUpdate, by the timer': {
      enter: inScoring(async (leadId) => {
        await fixture.send(leadId, 'contract_signed')
        await fixture.send(leadId, 'escrow_funded')
        await fixture.leads.recorded(leadId, 'escrow_funded')
        await fixture.advance(leadId, 45)
      }),
      leaves: ['contract_signed', 'escrow_funded', 'score_update'],
    },
    'recordScoreUpdate, by a signal': {
      enter: inScoring((leadId) => fixture.send(leadId, 'score_update')),
      leaves: ['score_update'],
    },
  }

  it.each(Object.keys(inside))('in the middle of %s loses, doubles and reorders nothing', async (name) => {
    const { enter, leaves = [] } = inside[name] ?? {}
    const leadId = await fixture.leads.start()
    await fixture.arrived(leadId, 1)
    const runId = await runOf(leadId)
    const release = await enter?.(leadId)
    await chat(leadId, 0, ENOUGH)
    await continued(leadId, runId)
    release?.()
    await fixture.send(leadId, 'mortgage_ready')
    await fixture.arrived(leadId, leaves.length + 2)
    await until(async () => (await view(leadId)).next === leaves.length + 3)
    expect(await recorded(leadId)).toEqual({ names: ['lead_received', ...leaves, 'mortgage_ready'], chats })
    const arrivals = fixture.leads.arrivals(leadId)
    const sequences = arrivals.map(({ event }) => event.data.sequence)
    expect(sequences).toEqual(Array.from({ length: leaves.length + 2 }, (_, index) => index + 1))
    expect(arrivals.every(({ verified }) => verified)).toBe(true)
  })

  it('waits for the end of recordMilestones, and hands on what has arrived meanwhile', async () => {
    const leadId = await fixture.leads.start()
    await fixture.arrived(leadId, 1)
    const runId = await runOf(leadId)
    const lock = await holdRow(fixture.service.sql, 'leads', `id = ${leadId}`)
    await fixture.send(leadId, 'contract_signed')
    await lock.reached()
    await chat(leadId, 0, ENOUGH)
    await fixture.send(leadId, 'contract_signed')
    expect(await runOf(leadId)).toBe(runId)
    await lock.release()
    await fixture.send(leadId, 'mortgage_ready')
    await continued(leadId, runId)
    await fixture.arrived(leadId, 3)
    expect(await recorded(leadId)).toEqual({
      names: ['lead_received', 'contract_signed', 'mortgage_ready'],
      chats,
    })
    expect(fixture.leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2, 3])
    await until(async () => (await view(leadId)).next === 4)
    const { signals } = await view(leadId)
    expect(signals).toMatchObject({ received: ENOUGH + 3, recorded: ENOUGH + 2, repeated: 1 })
  })

  it('in the middle of sendOnboardingEmail mails once, or again with the same Message-ID', async () => {
    const release = hold(mails)
    const leadId = await fixture.leads.start()
    const id = `<onboarding-${leadId}@`
    const own = () => mails.mails.filter(({ content }) => content.includes(id))
    await until(async () => own().length > 0)
    const runId = await runOf(leadId)
    await chat(leadId, 0, ENOUGH)
    await continued(leadId, runId)
    release()
    await until(async () => {
      const lead = fixture.service.sql
        .selectFrom('leads')
        .select('onboarding_sent_at')
        .where('id', '=', leadId)
      return (await lead.executeTakeFirstOrThrow()).onboarding_sent_at !== null
    })
    const before = await runOf(leadId)
    for (let sent = 0; sent < ENOUGH; sent += 1) await fixture.send(leadId, 'paid')
    await continued(leadId, before)
    // each run that did not know of the mail may have sent it, and none after them
    expect(own().length).toBeLessThanOrEqual((await runsUpTo(leadId, before)).length)
    expect(new Set(own().map(({ content }) => /Message-ID: (<[^@]+@)/i.exec(content)?.[1]))).toEqual(
      new Set([id]),
    )
    // the runs hand over what is not recorded yet
    await until(async () => (await recorded(leadId)).chats.length >= chats.length)
    expect(await recorded(leadId)).toEqual({ names: ['lead_received'], chats })
  })

  it('in the middle of closeLead closes the lead, and says why', async () => {
    const leadId = await fixture.leads.start()
    await fixture.arrived(leadId, 1)
    const runId = await runOf(leadId)
    const lock = await holdRow(fixture.service.sql, 'leads', `id = ${leadId}`)
    await fixture.send(leadId, 'close', { reason: 'withdrew' })
    await lock.reached()
    for (let sent = 0; sent < ENOUGH; sent += 1) await fixture.send(leadId, 'paid')
    await continued(leadId, runId)
    await lock.release()
    await expect(handleOf(leadId).result()).resolves.toBe('withdrew')
    const lead = fixture.service.sql.selectFrom('leads').select(['closed_at', 'close_reason'])
    expect(await lead.where('id', '=', leadId).executeTakeFirst()).toEqual({
      closed_at: expect.any(Date),
      close_reason: 'withdrew',
    })
    expect(await recorded(leadId)).toEqual({ names: ['lead_received'], chats: [] })
  })

  it('keeps the request that created the lead, in its state and in its memo', async () => {
    const leadId = await fixture.leads.commit()
    const requestId = uuidv7()
    const { sql, referrals } = fixture.service
    await sql.updateTable('deliveries').set({ request_id: requestId }).where('lead_id', '=', leadId).execute()
    await referrals.startFromRecord(leadId)
    const runId = await runOf(leadId)
    await chat(leadId, 0, ENOUGH)
    await continued(leadId, runId)
    expect(await view(leadId)).toMatchObject({ requestId })
    expect((await handleOf(leadId).describe()).memo).toEqual({ request_id: requestId })
  })

  it('shows operators the same texts as before, and the lead is found as before', async () => {
    const leadId = await fixture.leads.start()
    await fixture.send(leadId, 'escrow_funded')
    await fixture.send(leadId, 'escrow_funded')
    await fixture.arrived(leadId, 2)
    const runId = await runOf(leadId)
    await chat(leadId, 0, ENOUGH)
    await continued(leadId, runId)
    await until(async () => (await view(leadId)).signals.recorded === ENOUGH + 1)
    const { currentDetails } = await handleOf(leadId).query<{ currentDetails: string }>(
      '__temporal_workflow_metadata',
    )
    expect(currentDetails).toContain(
      `**Lead ${leadId}** of partner ${fixture.partner.id} is at **escrow_funded**`,
    )
    expect(currentDetails).toContain(
      `**Signals**: ${ENOUGH + 2} received: ${ENOUGH + 1} recorded, 1 repeated`,
    )
    expect(currentDetails).toContain('`escrow_funded` already recorded: nothing changed')
    const { anchor } = await view(leadId)
    expect(await published(handleOf(leadId))).toMatchObject({
      LeadId: leadId,
      PartnerId: fixture.partner.id,
      LeadStatus: 'escrow_funded',
      DeliveryState: 'ok',
      NextScoreUpdateAt: new Date((anchor ?? 0) + 45 * 24 * 60 * 60 * 1000),
      LastEventAt: expect.any(Date),
    })
  })
})
