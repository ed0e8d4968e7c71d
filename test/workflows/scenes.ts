import { advanceClock } from '../../src/db/leads/lifecycle.ts'
import { leadsOf } from '../support/leads.ts'
import { rawSignal } from '../support/raw-signal.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'
import { putEndpoints } from '../support/endpoint-states.ts'

const DAY_S = 24 * 60 * 60

/** A stretch of a lead's life in which the workflow takes a certain branch; leaves the lead there. */
export type Scene = (stage: Stage, leadId: number) => Promise<void>

export interface Stage {
  service: Service
  partner: TestPartner
  leads: ReturnType<typeof leadsOf>
  send: (leadId: number, name: string, argument?: unknown) => Promise<unknown>
  arrived: (leadId: number, count: number) => Promise<unknown>
  advance: (leadId: number, days: number) => Promise<unknown>
  setEndpoint: (state: 'paused' | 'active') => Promise<unknown>
}

export function stageOf(service: Service, partner: TestPartner): Stage {
  const leads = leadsOf(service, partner)
  const send = (leadId: number, name: string, argument?: unknown) =>
    service.referrals.signal(leadId, name, argument)
  return {
    service,
    partner,
    leads,
    send,
    arrived: (leadId, count) => partner.endpoint.until(() => leads.arrivals(leadId).length >= count),
    async advance(leadId, days) {
      await advanceClock(service.sql, leadId, days * DAY_S)
      await send(leadId, 'read_record')
    },
    setEndpoint: (state) => putEndpoints(service.sql, state, { partnerId: partner.id }),
  }
}

/** The service with a partner and a worker that runs. */
export async function prepareStage(settings: Record<string, string> = {}): Promise<Stage> {
  const service = await prepareService(settings)
  const [partner] = await Promise.all([service.addPartner(), service.startWorker()])
  return stageOf(service, partner)
}

const viewOf = ({ service }: Stage, leadId: number) =>
  service.client.workflow
    .getHandle(`lead-${leadId}`)
    .query<{ held: boolean; trouble: object | null; next: number; notes: object[] }>('state')

/** The runs on both sides of continue-as-new, by the names of the files that hold their histories. */
export const crossing = ['continued-as-new', 'begun-by-continuing'] as const

/**
 * Lets a run continue as new while a webhook is under way, on a server that suggests it soon; the next one ends
 * with the lead.
 */
export const cross: Scene = async (stage, leadId) => {
  await stage.arrived(leadId, 1)
  const handle = stage.service.client.workflow.getHandle(`lead-${leadId}`)
  const { runId } = await handle.describe()
  const answered = Promise.withResolvers<void>()
  stage.partner.endpoint.answer = (_, response) =>
    void answered.promise.then(() => response.writeHead(200).end())
  await stage.send(leadId, 'escrow_funded')
  await stage.arrived(leadId, 2)
  while ((await handle.describe()).runId === runId) await stage.send(leadId, 'client_engaged_in_chat')
  answered.resolve()
  await stage.send(leadId, 'score_update')
  await stage.arrived(leadId, 3)
  await stage.send(leadId, 'close', { reason: 'withdrew' })
  await handle.result()
}

/** Each branch of the workflow, by the name of the file that holds its history. */
export const scenes: Record<string, Scene> = {
  async started(stage, leadId) {
    await stage.arrived(leadId, 1)
  },
  async journey(stage, leadId) {
    for (const name of ['client_account_created', 'contract_signed', 'escrow_funded'])
      await stage.send(leadId, name)
    await stage.arrived(leadId, 4)
    await stage.advance(leadId, 45)
    await stage.arrived(leadId, 5)
    await stage.send(leadId, 'mortgage_ready')
    await stage.arrived(leadId, 6)
    await stage.advance(leadId, 31)
    await stage.service.client.workflow.getHandle(`lead-${leadId}`).result()
  },
  async 'not-understood'(stage, leadId) {
    await rawSignal(stage.service, leadId, 'contract_signed', { encoding: 'json/protobuf', data: '{}' })
    await rawSignal(stage.service, leadId, '__temporal_x', { encoding: 'json/plain', data: '{' })
    await stage.send(leadId, 'paid')
    await stage.send(leadId, 'contract_signed')
    await until(async () => (await viewOf(stage, leadId)).notes.length === 4)
  },
  async 'score-updates-signalled'(stage, leadId) {
    await stage.send(leadId, 'score_update', { id: 'a' })
    await stage.send(leadId, 'score_update', { id: 'b', event_payload: { experian_gain: 'x' } })
    await stage.leads.recorded(leadId, 'score_update', 2)
    await stage.arrived(leadId, 3)
  },
  async 'asked-by-update'(stage, leadId) {
    await stage.service.referrals.record(leadId, { name: 'contract_signed' })
    await stage.service.referrals.record(leadId, { name: 'contract_signed' })
    await stage.service.referrals.record(leadId, { name: 'score_update', id: 'a' })
    await stage.arrived(leadId, 3)
  },
  async 'webhook-failing-then-woken'(stage, leadId) {
    await stage.arrived(leadId, 1)
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
    await stage.send(leadId, 'contract_signed')
    await until(async () => (await viewOf(stage, leadId)).trouble !== null)
    stage.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await stage.service.sql
      .updateTable('deliveries')
      .set({ next_attempt_at: new Date() })
      .where('lead_id', '=', leadId)
      .execute()
    await stage.send(leadId, 'wake')
    await until(async () => (await viewOf(stage, leadId)).next === 3)
  },
  async 'webhook-held-then-resumed'(stage, leadId) {
    await stage.arrived(leadId, 1)
    await stage.setEndpoint('paused')
    await stage.send(leadId, 'contract_signed')
    await until(async () => (await viewOf(stage, leadId)).held)
    await stage.setEndpoint('active')
    await stage.send(leadId, 'wake')
    await stage.arrived(leadId, 2)
  },
  async canceled(stage, leadId) {
    await stage.send(leadId, 'escrow_funded')
    const handle = stage.service.client.workflow.getHandle(`lead-${leadId}`)
    await handle.cancel()
    await handle.result()
  },
  async 'closed-by-staff'(stage, leadId) {
    await stage.send(leadId, 'close', { reason: 'withdrew' })
    await stage.service.client.workflow.getHandle(`lead-${leadId}`).result()
  },
}
