import { beforeAll, describe, expect, it } from '@jest/globals'
import {
  certificationChecks,
  type CheckReport,
  type CheckResult,
} from '../../src/endpoints/certification-checks.ts'
import { atOnce } from '../support/at-once.ts'
import { endpointOf, putEndpoints } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import { type Arrival, startPartnerEndpoint } from '../support/partner-endpoint.ts'
import { partnerCalls } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { whileBusy } from '../support/while-busy.ts'

type Six<Item> = [Item, Item, Item, Item, Item, Item]

interface View {
  url: string
  health: string
  candidate: { url: string } | null
  certification: { url: string; state: string; checks: CheckReport[] } | null
  secret: string
}

describe('certification', () => {
  let service: SharedService
  let port: number | undefined
  const { begun, begin } = atOnce()

  beforeAll(async () => {
    service = await sharedService()
    ;({ port } = service)
    begin()
  }, 60_000)

  /** A partner that is about to certify the endpoint `next`. */
  async function scene() {
    const partner = await service.addPartner()
    const next = await startPartnerEndpoint()
    next.answer = ({ verified }, response) => void response.writeHead(verified ? 200 : 400).end()
    const calls = partnerCalls(port, partner.key)
    const post = async (path: string, body: object) => {
      const { status, body: answer } = await whileBusy(() => calls.post(path, body))
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
      return answer.data as object as View
    }
    const propose = async (at = next) => (at.secret = (await post('set-endpoint', { url: at.url })).secret)
    const ended = async () => {
      const report = await until(async () => {
        const { certification } = await post('get-endpoint', {})
        return certification !== null && certification.state !== 'running' && certification
      })
      const withResult = (wanted: CheckResult) =>
        report.checks.filter(({ result }) => result === wanted).map(({ check }) => check)
      return { ...report, failed: withResult('failed'), notJudged: withResult('not_judged') }
    }
    const certify = async (body: object = {}) => {
      await propose()
      await post('certify-endpoint', body)
      return ended()
    }
    return { partner, next, post, propose, ended, certify }
  }

  it(
    'passes an endpoint that verifies with the public library, and switches to it',
    begun(async () => {
      const { partner, next, post, certify } = await scene()
      const { state, checks } = await certify()
      expect(state).toBe('passed')
      expect(checks.map(({ check }) => check)).toEqual(certificationChecks)
      const passed = { result: 'passed', received: 'status 200', duration_ms: expect.any(Number), hint: null }
      expect(checks[0]).toEqual({ check: 'valid', ...passed })
      expect(await post('get-endpoint', {})).toMatchObject({ url: next.url, candidate: null })
      expect(partner.endpoint.arrivals).toEqual([])

      // no lead's data; the same bytes in the repeated check; other bytes of the same JSON in the last
      const [valid, repeated, unknown, forged, old, changed] = next.arrivals as Six<Arrival>
      expect([valid.id, valid.body]).toEqual([repeated.id, repeated.body])
      const data = { partner_id: partner.id, environment: 'sandbox' }
      expect(valid.event).toMatchObject({ type: 'endpoint.certification', data })
      expect(unknown.event.type).not.toBe('endpoint.certification')
      expect(new Set([valid, unknown, forged, old, changed].map(({ id }) => id)).size).toBe(5)
      expect(next.arrivals.map(({ verified }) => verified)).toEqual([true, true, true, false, false, false])
      expect(next.arrivals.map(({ body }) => body).join('')).not.toMatch(/lead|Ada|Miller/)
      expect(changed.body).not.toBe(valid.body)
      expect(changed.body).toHaveLength(valid.body.length)
      expect(changed.event).toEqual(valid.event)
      // a receiver that verifies parsed and rewritten JSON does not pass
      expect(JSON.stringify(valid.event)).not.toBe(valid.body)

      // operators see the checks, without the URL
      const { workflow } = endpointOf(service, partner)
      await workflow.result()
      const { events } = await workflow.fetchHistory()
      const text = JSON.stringify(events, (name, value: unknown) =>
        name === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value,
      )
      expect(text).toContain('valid: passed (status 200)')
      expect(text).not.toContain(new URL(next.url).host)
      expect(text).not.toContain('whsec_')
    }),
  )

  it(
    'of a first URL sends what was held, in order, once it has changed over',
    begun(async () => {
      const { partner, next, certify } = await scene()
      const leads = leadsOf(service, partner)
      await putEndpoints(service.sql, 'paused', { partnerId: partner.id, by: 'service' })
      const withoutUrl = service.sql.updateTable('endpoints').where('partner_id', '=', partner.id)
      await withoutUrl.set({ url: null, reason: 'no_endpoint', next_probe_at: null }).execute()
      const leadId = await leads.start()
      await service.referrals.signal(leadId, 'contract_signed')
      await leads.recorded(leadId, 'contract_signed')
      await certify()
      const sequences = () =>
        next.arrivals
          .filter(({ event }) => event.data.lead_id === leadId)
          .map(({ event }) => event.data.sequence)
      await next.until(() => sequences().length === 2)
      expect(sequences()).toEqual([1, 2])
      expect(next.arrivals.slice(6).every(({ verified }) => verified)).toBe(true)
      expect(leads.arrivals(leadId)).toEqual([])
    }),
  )

  it(
    'fails an endpoint that verifies nothing, and changes over all the same where a sandbox asks for it',
    begun(async () => {
      const { partner, next, post, certify } = await scene()
      next.answer = (_, response) => void response.writeHead(200).end()
      const { state, failed, checks } = await certify()
      expect([state, failed]).toEqual(['failed', ['forged_signature', 'old_timestamp', 'changed_body']])
      for (const { result, hint } of checks) expect(hint === null).toBe(result === 'passed')
      const { url } = partner.endpoint
      expect(await post('get-endpoint', {})).toMatchObject({ url, candidate: { url: next.url } })
      expect((await certify({ accept_failures: true })).state).toBe('failed')
      expect(await post('get-endpoint', {})).toMatchObject({ url: next.url, candidate: null })
    }),
  )

  it(
    'sends nothing more to an endpoint that does not respond',
    begun(async () => {
      const { next, certify } = await scene()
      next.answer = (_, response) => void response.socket?.destroy()
      const { state, checks } = await certify()
      expect(next.arrivals).toHaveLength(1)
      expect([state, checks]).toMatchObject(['failed', [{ check: 'valid', received: 'no response' }]])
    }),
  )

  it(
    'of two candidates at once switches to the current one only',
    begun(async () => {
      const { next: first, post, propose, ended } = await scene()
      const answered = Promise.withResolvers<void>()
      first.answer = ({ verified }, response) =>
        void answered.promise.then(() => response.writeHead(verified ? 200 : 400).end())
      await propose()
      await post('certify-endpoint', {})
      await first.until((arrivals) => arrivals.length === 1)
      const second = await startPartnerEndpoint()
      second.answer = ({ verified }, response) => void response.writeHead(verified ? 200 : 400).end()
      await propose(second)
      await post('certify-endpoint', {})
      answered.resolve()
      expect(await ended()).toMatchObject({ state: 'passed', url: second.url })
      expect([first.arrivals.length, second.arrivals.length]).toEqual([1, 6])
      expect((await post('get-endpoint', {})).url).toBe(second.url)
    }),
  )
})
