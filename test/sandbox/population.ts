import { milestones } from '../../src/core/leads/decisions/milestones.ts'
import {
  drawJourney,
  drawKinds,
  type JourneyKind,
  type Mix,
} from '../../src/capabilities/sandbox/populations/decisions/journeys.ts'
import { populationId } from '../../src/capabilities/sandbox/populations/decisions/population.ts'
import type { PopulationView } from '../../src/capabilities/sandbox/populations/routes/population-view.ts'
import type { Arrival } from '../support/partner-endpoint.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

const SCORE_DAYS = 45

/** The webhooks to expect of a population's nth lead, in their order. */
export function expectedWebhooks(seed: number, number: number, kind: JourneyKind): string[] {
  const webhooks: string[] = ['lead_received']
  let anchor: number | undefined
  let day = 0
  for (const step of drawJourney(seed, number, kind)) {
    for (; day < step.day; day += 1)
      if (anchor !== undefined && (day + 1 - anchor) % SCORE_DAYS === 0) webhooks.push('score_update')
    for (const name of 'happens' in step ? step.happens : []) {
      if (!milestones[name].webhook || webhooks.includes(name)) continue
      webhooks.push(name)
      if (name === 'escrow_funded') anchor = step.day
      if (name === 'mortgage_ready') anchor = undefined
    }
  }
  return webhooks
}

/** Those of a whole population, by the number of the lead. */
export const expectedOf = (drawn: { seed: number; size: number; mix: Mix }) =>
  drawKinds(drawn).map((kind, index) => expectedWebhooks(drawn.seed, index + 1, kind))

/** Which lead of a population a webhook is about, from 1. */
const numberOf = ({ event }: Arrival) => Number(event.data.partner_lead_id?.split('-')[2])

/** Webhooks in the order of their arrival, by the number of their lead: each once, however often it came. */
export function byLead(arrivals: readonly Arrival[]): Arrival[][] {
  const leads: Arrival[][] = []
  for (const arrival of new Map(arrivals.toReversed().map((each) => [each.id, each])).values()) {
    const lead = (leads[numberOf(arrival) - 1] ??= [])
    lead.unshift(arrival)
  }
  return leads
}

/** What a webhook says, apart from ids and times. */
export const normalized = ({ body }: Arrival) =>
  body
    .replaceAll(/evt_[0-9a-f-]{36}/g, 'evt')
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?/g, 'time')
    .replaceAll(/"(lead_id|partner_id)":\d+/g, '"$1":0')
    .replaceAll(/POPULATION-\d+-/g, 'POPULATION-')

/** What a partner does with populations. */
export function populationsOf(service: Service, port: number | undefined, partner: TestPartner) {
  const { post } = partnerCalls(port, partner.key)
  const call = async (path: string, body: object) => {
    const { status, body: answer } = await post(`sandbox/${path}`, body)
    return {
      status,
      data: answer.data as unknown as PopulationView,
      error: (answer as { error?: { message: string } }).error,
    }
  }
  /** By default the latest. */
  const read = async (id?: number) => (await call('get-population', { population_id: id })).data
  return {
    call,
    read,
    run: async (body: object) => (await call('run-population', body)).data.population_id,
    /** Resolves with the view at its end. */
    async ended(id: number): Promise<PopulationView> {
      const handle = service.client.workflow.getHandle(populationId(id))
      await until(() => handle.describe().catch(() => undefined))
      await handle.result().catch(() => undefined)
      return read(id)
    },
  }
}

/** A service of its own, because a population slows down beside partners that get webhooks. */
export async function preparePopulations() {
  const service = await prepareService()
  const [{ port }] = await Promise.all([service.startApi(), service.startWorker()])
  const leadsOf = (id: number) =>
    service.sql
      .selectFrom('population_leads')
      .innerJoin('leads', 'leads.id', 'population_leads.lead_id')
      .select(['number', 'kind', 'outcome', 'closed_at', 'erased_at'])
      .where('population_id', '=', id)
      .orderBy('number')
      .execute()
  const add = async () => {
    const partner = await service.addPartner()
    return { partner, populations: populationsOf(service, port, partner) }
  }
  return { service, port, leadsOf, add }
}

export type Scene = Awaited<ReturnType<typeof preparePopulations>>
