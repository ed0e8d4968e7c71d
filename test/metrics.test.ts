import { beforeAll, describe, expect, it } from '@jest/globals'
import type { ServiceProcess } from './support/processes.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from './support/service.ts'
import { scrape } from './support/scrape.ts'

const CANARIES = { first_name: 'Canaryfirst', last_name: 'Canarylast', email: 'canary@example.com' }

describe('metrics', () => {
  let service: Service
  let partner: TestPartner
  let api: ServiceProcess
  let worker: ServiceProcess
  let calls: ReturnType<typeof partnerCalls>

  beforeAll(async () => {
    service = await prepareService({ METRICS_PORT: '0' })
    partner = await service.addPartner()
    ;[api, worker] = await Promise.all([service.startApi(), service.startWorker()])
    calls = partnerCalls(api.port, partner.key)
  }, 60_000)

  it('has the process and the requests of the API by route pattern, and one series for what has no route', async () => {
    await calls.createLead(CANARIES)
    await calls.post('get-lead', { lead_id: 999_999 })
    for (const path of ['canary-one', 'canary-two?email=canary@example.com'])
      await fetch(`http://127.0.0.1:${api.port}/${path}`)
    await fetch(`http://127.0.0.1:${api.port}/${partner.key}`, { method: 'DELETE' })
    const metrics = await scrape(api)
    const counted = (labels: Record<string, string>) =>
      metrics.value('http_request_duration_seconds_count', labels)
    expect(counted({ method: 'POST', route: '/v1/create-lead', status: '200' })).toBe(1)
    expect(counted({ method: 'POST', route: '/v1/get-lead', status: '404' })).toBe(1)
    expect(counted({ method: 'any', route: 'none', status: '404' })).toBe(3)
    expect(metrics.value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
    expect(metrics.text).not.toMatch(/canary/i)
    expect(metrics.text).not.toContain(partner.key)
  })

  it('has the process of the worker', async () => {
    expect((await scrape(worker)).value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
  })

  it.each(['livez', 'readyz', 'metrics'])('answers /%s whatever the query string', async (path) => {
    const answer = await fetch(`http://127.0.0.1:${worker.metricsPort}/${path}?probe=1`)
    expect(answer.status).toBe(200)
  })

  it('answers 404 to any other path', async () => {
    expect((await fetch(`http://127.0.0.1:${worker.metricsPort}/metrics/more`)).status).toBe(404)
  })
})
