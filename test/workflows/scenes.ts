import type { WorkflowHandle } from '@temporalio/client'
import { putClockAhead } from '../support/clock.ts'
import { beginCertification } from '../../src/endpoints/certify-endpoint.ts'
import { createEndpointStarter, createPing } from '../../src/endpoints/endpoint-workflows.ts'
import { referralId } from '../../src/temporal/names.ts'
import { lockEndpoint } from '../../src/endpoints/endpoint.ts'
import { setCandidate } from '../../src/endpoints/set-endpoint.ts'
import { sealing } from '../../src/seal.ts'
import { createResender, findWebhook } from '../../src/deliveries/resends.ts'
import {
  advanceClockUpdate,
  probeSignal,
  type ReferralView,
  runScenarioUpdate,
  simulateUpdate,
} from '../../workflows/messages.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { leadsOf } from '../support/leads.ts'
import { rawSignal } from '../support/raw-signal.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { endpointOf, putEndpoints } from '../support/endpoint-states.ts'

const DAY_S = 24 * 60 * 60

export interface Fixture {
  service: Service
  partner: TestPartner
  leads: ReturnType<typeof leadsOf>
  handleOf: (leadId: number, runId?: string) => WorkflowHandle
  /** The workflow's view of its lead. */
  view: (leadId: number) => Promise<ReferralView>
  /** What operators read in the Web UI. */
  details: (leadId: number) => Promise<string>
  send: (leadId: number, name: string, argument?: unknown) => Promise<unknown>
  arrived: (leadId: number, count: number) => Promise<unknown>
  advance: (leadId: number, days: number) => Promise<unknown>
  setEndpoint: (state: 'paused' | 'active') => Promise<unknown>
}

function fixtureOf(service: Service, partner: TestPartner): Fixture {
  const leads = leadsOf(service, partner)
  const send = (leadId: number, name: string, argument?: unknown) =>
    service.referrals.signal(leadId, name, argument)
  const handleOf = (leadId: number, runId?: string) =>
    service.client.workflow.getHandle(referralId(leadId), runId)
  return {
    service,
    partner,
    leads,
    handleOf,
    view: (leadId) => handleOf(leadId).query<ReferralView>('state'),
    details: async (leadId) => {
      const name = '__temporal_workflow_metadata'
      return (await handleOf(leadId).query<{ currentDetails: string }>(name)).currentDetails
    },
    send,
    arrived: (leadId, count) => partner.endpoint.until(() => leads.arrivals(leadId).length >= count),
    async advance(leadId, days) {
      await putClockAhead(service.sql, leadId, days * DAY_S)
      await send(leadId, 'read_record')
    },
    setEndpoint: (state) => putEndpoints(service.sql, state, { partnerId: partner.id }),
  }
}

/** The service with a partner and a worker that runs. */
export async function prepareFixture(settings: Record<string, string> = {}): Promise<Fixture> {
  const service = await prepareService(settings)
  const [partner] = await Promise.all([service.addPartner(), service.startWorker()])
  return fixtureOf(service, partner)
}

/** The service that files share, with a partner of one's own. */
export async function sharedFixture(): Promise<Fixture> {
  const service = await sharedService()
  return fixtureOf(service, await service.addPartner())
}

/** Leaves the lead with a failed webhook that waits for its next attempt; the endpoint works again. */
async function failOnce(fixture: Fixture, leadId: number): Promise<void> {
  fixture.partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
  await fixture.send(leadId, 'credit_scan_completed')
  await until(async () => (await fixture.view(leadId)).failure !== null)
  fixture.partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
}

/**
 * Leads' lives, by the name of the file that holds the history of the first run: between them they take every branch of the
 * workflow.
 */
export const scenes: Record<string, (fixture: Fixture, leadId: number) => Promise<unknown>> = {
  async journey(fixture, leadId) {
    for (const name of ['client_account_created', 'contract_signed', 'escrow_funded'])
      await fixture.send(leadId, name)
    await fixture.arrived(leadId, 4)
    await fixture.advance(leadId, 45)
    await fixture.arrived(leadId, 5)
    await fixture.send(leadId, 'mortgage_ready')
    await fixture.arrived(leadId, 6)
    await fixture.advance(leadId, 31)
    await fixture.handleOf(leadId).result()
  },
  async 'troubled-journey'(fixture, leadId) {
    const { service, send, setEndpoint, view } = fixture
    const handle = fixture.handleOf(leadId)
    await rawSignal(service, leadId, 'contract_signed', { encoding: 'json/protobuf', data: '{}' })
    await rawSignal(service, leadId, '__temporal_x', { encoding: 'json/plain', data: '{' })
    await send(leadId, 'paid')
    await service.referrals.record(leadId, { name: 'client_account_created' })
    await service.referrals.record(leadId, { name: 'client_account_created' })
    await until(async () => (await view(leadId)).next === 4)
    await failOnce(fixture, leadId)
    const deliveries = service.sql.updateTable('deliveries').where('lead_id', '=', leadId)
    await deliveries.set({ next_attempt_at: new Date() }).execute()
    await send(leadId, 'wake')
    await until(async () => (await view(leadId)).next === 5)
    await setEndpoint('paused')
    await service.referrals.update(leadId, simulateUpdate, [
      { key: 'a', events: [{ name: 'escrow_funded' }] },
    ])
    await until(async () => (await view(leadId)).held)
    await setEndpoint('active')
    await send(leadId, 'wake')
    await until(async () => (await view(leadId)).next === 6)
    await send(leadId, 'score_update', { id: 'b', event_payload: { experian_gain: 'x' } })
    await until(async () => (await view(leadId)).next === 7)
    await service.referrals.update(leadId, advanceClockUpdate, [{ days: 90 }])
    await handle.cancel()
    await handle.result()
  },
  /** A year in which the endpoint refuses the second score update once. */
  async 'clock-advanced'({ service, partner, leads, arrived }, leadId) {
    await service.referrals.record(leadId, { name: 'escrow_funded' })
    await arrived(leadId, 2)
    partner.endpoint.answer = (_, response) =>
      void response.writeHead(leads.arrivals(leadId).length === 4 ? 500 : 200).end()
    await service.referrals.update(leadId, advanceClockUpdate, [{ days: 365 }])
  },
  scenario: ({ service }, leadId) =>
    service.referrals.update(leadId, runScenarioUpdate, [{ scenario: 'scores_go_down' }]),
}

/** Scenes whose history is the last run of a journey, after runs that continued as new. */
export const CONTINUED = 'journey-continued'

/** Workflows of endpoints, by the names of the files with their histories. Each returns the workflow's id. */
export const otherScenes: Record<string, (service: Service) => Promise<string>> = {
  /** Certifies a URL that refuses, and resends a webhook, too. */
  async 'endpoint-probed-then-resumed'(service) {
    const partner = await service.addPartner()
    const endpoint = endpointOf(service, partner)
    const startEndpoint = createEndpointStarter(service.client)
    const [eventId = ''] = await fillDeliveries(service.sql, partner.id, 1, 'delivered')
    const secret = sealing(partner.endpoint.secret, service.encryptionKeys)
    await setCandidate(service.sql, partner.id, partner.endpoint.url, secret)
    const asked = { acceptFailures: false, requestedBy: 'key 1' }
    await beginCertification(service.sql, await lockEndpoint(service.sql, partner.id), asked)
    partner.endpoint.answer = (_, response) => void response.writeHead(410).end()
    await leadsOf(service, partner).start()
    await endpoint.is('paused')
    await createPing(service.client)(partner.id)
    const webhook = (await findWebhook(service.sql, eventId))!
    await createResender({ sql: service.sql, wakeLead: service.referrals.wake, startEndpoint }).resend(
      webhook,
    )
    const handle = endpoint.workflow
    await handle.signal(probeSignal)
    await until(async () => (await endpoint.probes()).length === 1)
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await handle.signal(probeSignal)
    await handle.result()
    return handle.workflowId
  },
}
