import { beforeAll, describe, expect, it } from '@jest/globals'
import { leadsOf } from '../support/leads.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'

describe('while PostgreSQL is away', () => {
  let postgres: Awaited<ReturnType<typeof ownPostgres>>
  let service: Service
  let partner: TestPartner
  let calls: ReturnType<typeof partnerCalls>
  let leads: ReturnType<typeof leadsOf>
  let leadId: number
  let apiPort: number | undefined

  beforeAll(async () => {
    postgres = await ownPostgres()
    service = await prepareService({ DATABASE_URL: postgres.url })
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    const [api] = await Promise.all([service.startApi(), service.startWorker()])
    apiPort = api.port
    calls = partnerCalls(api.port, partner.key)
    leadId = await calls.createLead()
    await partner.endpoint.until((arrivals) => arrivals.length === 1)
    await postgres.kill()
  }, 60_000)

  it('the API answers 503 with Retry-After within two seconds', async () => {
    const started = Date.now()
    const response = await fetch(`http://127.0.0.1:${apiPort}/v1/get-lead`, {
      method: 'POST',
      headers: { authorization: `Service-Key ${partner.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ lead_id: leadId }),
    })
    expect(response.status).toBe(503)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } })
    expect(Date.now() - started).toBeLessThan(2500)
  })

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
