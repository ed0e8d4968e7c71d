import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { RETRY_DELAYS_MS } from '../../src/deliveries/retry-schedule.ts'
import { createEndpointStarter } from '../../src/endpoints/endpoint-workflows.ts'
import { compareNow } from '../support/compared.ts'
import { endpointOf, pauseEndpoint, resumeEndpoint } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import type { Running } from '../support/in-process.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'
import { scrape } from '../support/scrape.ts'
import { until } from '../support/until.ts'

const CANARIES = { first_name: 'Canaryfirst', last_name: 'Canarylast', email: 'canary@example.com' }

describe('metrics', () => {
  let service: Service
  let partner: TestPartner
  let api: Running
  let worker: Running
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

  it('has what rooms add to the worker', async () => {
    const { value } = await scrape(worker)
    expect(value('referrals_retention_removed_total', { class: 'leads' })).toBe(0)
  })

  it.each(['livez', 'readyz', 'metrics'])('answers /%s whatever the query string', async (path) => {
    const answer = await fetch(`http://127.0.0.1:${worker.metricsPort}/${path}?probe=1`)
    expect(answer.status).toBe(200)
  })

  it('answers 404 to any other path', async () => {
    expect((await fetch(`http://127.0.0.1:${worker.metricsPort}/metrics/more`)).status).toBe(404)
  })

  describe('of webhooks', () => {
    const attempts = 'referrals_webhook_attempts_total'
    let leads: ReturnType<typeof leadsOf>
    let endpoint: ReturnType<typeof endpointOf>
    beforeAll(() => {
      leads = leadsOf(service, partner)
      endpoint = endpointOf(service, partner)
    })
    const answering = (status: number) => {
      partner.endpoint.answer = (_, response) => void response.writeHead(status).end('canary@example.com')
    }
    /** Waits until a series has reached `count`, and then has it at exactly that. */
    const reaches = async (name: string, labels: Record<string, string>, count: number) => {
      await until(async () => ((await scrape(worker)).value(name, labels) ?? 0) >= count)
      expect((await scrape(worker)).value(name, labels)).toBe(count)
    }
    const notices = (kind: string, count: number) =>
      reaches('referrals_endpoint_notices_total', { kind }, count)
    /** The worker's log lines about a notice, but for those about mails. */
    const lines = (kind: string) =>
      until(async () => {
        const found = worker
          .output()
          .split('\n')
          .filter((line) => line.includes(`"notice":"${kind}"`) && !line.includes('"mail":'))
          .map((line): unknown => JSON.parse(line))
        return found.length > 0 && found
      })
    /** A webhook that has failed so often, an hour ago, and is due. */
    const failed = async (failures: number) => {
      const leadId = await leads.commit()
      const { event_id: eventId } = await service.sql
        .updateTable('deliveries')
        .set({ failures, last_but_one_at: raw<Date>`now() - interval '1 hour'` })
        .where('lead_id', '=', leadId)
        .returning('event_id')
        .executeTakeFirstOrThrow()
      await raw`
        insert into attempts (id, event_id, partner_id, number, trigger, endpoint_revision, url, started_at, finished_at,
          error_code)
        select 'att_' || ${eventId} || n, ${eventId}, ${partner.id}::int, n, 'scheduled', 1, 'https://lender.example', now() - interval '1 hour',
          now() - interval '1 hour', 'http_error'
        from generate_series(1, ${failures}::int) n`.execute(service.sql)
      await service.referrals.startFromRecord(leadId)
      return leadId
    }

    it('count what is delivered and recorded, with the time it took', async () => {
      await partner.endpoint.until((arrivals) => arrivals.length === 1)
      await reaches(attempts, { result: 'delivered' }, 1)
      const leadId = await leads.start()
      await service.referrals.signal(leadId, 'contract_signed')
      await leads.recorded(leadId, 'contract_signed')
      await reaches('referrals_events_recorded_total', { event: 'contract_signed' }, 1)
      await reaches(attempts, { result: 'delivered' }, 3)
      await reaches('referrals_webhook_attempt_duration_seconds_count', {}, 3)
      expect((await scrape(worker)).value('referrals_webhook_attempt_duration_seconds_sum')).toBeGreaterThan(
        0,
      )
    })

    it('count a failure, and the fourth in a row as a notice, also when its mail is not due', async () => {
      await sentJustNow('failing')
      answering(503)
      await failed(2)
      await reaches(attempts, { result: 'http_5xx' }, 1)
      await notices('failing', 0)
      await failed(3)
      await reaches(attempts, { result: 'http_5xx' }, 2)
      await notices('failing', 1)
      expect(await lines('failing')).toEqual([notice('the endpoint answered 503')])
    })

    it('count a webhook that is given up', async () => {
      await sentJustNow('given_up')
      await service.sql.updateTable('endpoints').set({ failing_since: null }).execute()
      await failed(RETRY_DELAYS_MS.length - 1)
      await notices('given_up', 1)
      expect(await lines('given_up')).toEqual([notice('the endpoint answered 503')])
    })

    it('count a pause once, though many requests run into it, and the recovery', async () => {
      await sentJustNow('paused')
      const both = Promise.withResolvers<void>()
      const before = partner.endpoint.arrivals.length
      partner.endpoint.answer = (_, response) => {
        if (partner.endpoint.arrivals.length >= before + 2) both.resolve()
        void both.promise.then(() => response.writeHead(410).end('canary@example.com'))
      }
      await Promise.all([leads.start(), leads.start()])
      await reaches(attempts, { result: 'http_4xx' }, 2)
      await notices('paused', 1)
      expect(await lines('paused')).toEqual([notice('gone')])
      await notices('recovered', 0)
      await reaches('referrals_deliveries_held', {}, await endpoint.open())
      await reaches('referrals_endpoints', { state: 'paused' }, 1)
      answering(200)
      await resume()
      // it has recovered with its first success
      await until(async () => (await endpoint.open()) === 0)
      await compareNow(service)
      await notices('recovered', 1)
      expect(await lines('recovered')).toHaveLength(1)
    })

    it('count a pause by staff apart from those by the service', async () => {
      await pauseEndpoint(service.sql, partner.id)
      await compareNow(service)
      await notices('paused_by_staff', 1)
      expect((await scrape(worker)).value('referrals_endpoint_notices_total', { kind: 'paused' })).toBe(1)
      await resume()
      await endpoint.is('active')
    })

    it('count a webhook that waits for a signing secret that cannot be decrypted', async () => {
      const secrets = service.sql.updateTable('endpoint_secrets')
      await secrets.set((eb) => ({ ciphertext: raw<string>`${eb.ref('ciphertext')} || 'damaged'` })).execute()
      const leadId = await leads.start()
      await reaches('referrals_activity_failures_total', { activity: 'deliverWebhook' }, 1)
      const said = /"msg":"a webhook waits: its signing secret cannot be decrypted"/
      await until(async () => said.test(worker.output()))
      expect(leads.arrivals(leadId)).toEqual([])
    })

    it('hold no personal data, key or answer of an endpoint', async () => {
      const { text } = await scrape(worker)
      for (const hidden of [/canary/i, /example\.com/, /lead_id/, /evt_/]) expect(text).not.toMatch(hidden)
      expect(text).not.toContain(partner.key)
      expect(text).not.toContain(partner.endpoint.url)
    })

    /** With its workflow, which a sweep would start seconds later. */
    const resume = async () =>
      createEndpointStarter(service.client)((await resumeEndpoint(service.sql, partner.id)) ?? 0)
    const notice = (reason: string) =>
      expect.objectContaining({
        endpoint_id: expect.any(Number),
        partner_id: partner.id,
        reason,
        event_id: expect.stringMatching(/^evt_/),
      })
    const sentJustNow = (kind: string) =>
      service.sql
        .insertInto('notices')
        .values({ partner_id: partner.id, kind, owed_at: raw<Date>`now()`, sent_at: raw<Date>`now()` })
        .execute()
  })
})
