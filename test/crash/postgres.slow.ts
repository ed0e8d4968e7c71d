import { beforeAll, describe, expect, it } from '@jest/globals'
import { leadsOf } from '../support/leads.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { scrape } from '../support/scrape.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'

const SERVED_503 = { method: 'POST', route: '/v1/get-lead', status: '503' }

describe('while PostgreSQL is away', () => {
  let postgres: Awaited<ReturnType<typeof ownPostgres>>
  let service: Service
  let partner: TestPartner
  let calls: ReturnType<typeof partnerCalls>
  let leads: ReturnType<typeof leadsOf>
  let leadId: number
  let api: ServiceProcess
  let worker: ServiceProcess

  beforeAll(async () => {
    postgres = await ownPostgres()
    service = await prepareService({ DATABASE_URL: postgres.url, METRICS_PORT: '0' })
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    ;[api, worker] = await Promise.all([service.startApi(), service.startWorker()])
    calls = partnerCalls(api.port, partner.key)
    leadId = await calls.createLead()
    await partner.endpoint.until((arrivals) => arrivals.length === 1)
    await postgres.kill()
  }, 60_000)

  it('the API answers 503 with Retry-After', async () => {
    const started = Date.now()
    const response = await fetch(`http://127.0.0.1:${api.port}/v1/get-lead`, {
      method: 'POST',
      headers: { authorization: `Service-Key ${partner.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ lead_id: leadId }),
    })
    expect(response.status).toBe(503)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } })
    // within two seconds: what test/api/database-away.test.ts shows, where the machine does nothing else
    expect(Date.now() - started).toBeLessThan(10_000)
  })

  it('API and worker tell Prometheus how they are, but for what waits in it', async () => {
    const [ofApi, ofWorker] = await Promise.all([scrape(api), scrape(worker)])
    expect(ofApi.value('http_request_duration_seconds_count', SERVED_503)).toBe(1)
    expect(ofWorker.value('process_resident_memory_bytes')).toBeGreaterThan(0)
    expect(ofWorker.text).not.toMatch(/^referrals_deliveries_due\S* \d/m)
  }, 20_000)

  it('milestones wait for its return, then each is recorded and sent once, without a restart', async () => {
    const names = ['client_account_created', 'contract_signed', 'escrow_funded']
    for (const name of names) {
      await service.client.workflow.getHandle(`lead-${leadId}`).signal(name)
    }
    await postgres.start()
    await partner.endpoint.until((arrivals) => arrivals.length === 4)
    expect(await leads.names(leadId)).toEqual(['lead_received', ...names])
    expect(leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2, 3, 4])
    expect(await calls.post('get-lead', { lead_id: leadId })).toMatchObject({ status: 200 })
  }, 60_000)
})
