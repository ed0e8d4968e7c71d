import { request, type Agent, Agent as HttpAgent } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { addresses, bodies, contentType, field, likely, methods, someHeaders, text } from './arbitraries.ts'
import { errorCatalogue } from '../../src/errors.ts'
import { type Api, type ApiPartner, prepareApi } from './api.ts'

const RUNS = 150
const posts = ['create-lead', 'get-lead', 'get-events', 'update-partner-info']
const answers: Record<string, (keyof typeof errorCatalogue)[]> = {
  'create-lead': ['INVALID_PAYLOAD', 'UNSUPPORTED_MEDIA_TYPE', 'IDEMPOTENCY_CONFLICT'],
  'get-lead': ['INVALID_PAYLOAD', 'UNSUPPORTED_MEDIA_TYPE', 'NOT_FOUND'],
  'get-events': ['INVALID_PAYLOAD', 'UNSUPPORTED_MEDIA_TYPE', 'NOT_FOUND'],
  'update-partner-info': ['INVALID_PAYLOAD', 'UNSUPPORTED_MEDIA_TYPE', 'NOT_FOUND'],
}

interface Received {
  status: number
  text: string
  type: string | undefined
}

/** What is wrong with an answer, if anything: it has one of the specified shapes, with one of `codes`. */
function faultOf({ status, text: body, type }: Received, codes: string[]): string | undefined {
  const fault = `${status} ${type} ${body}`
  if (status >= 500 || type !== 'application/json; charset=utf-8') return fault
  const answer = JSON.parse(body)
  if (status === 200) return answer.success === true ? undefined : fault
  const { success, error, ...more } = answer
  const code = error.code as keyof typeof errorCatalogue
  const isFailure = success === false && typeof error.message === 'string' && Object.keys(more).length === 0
  return isFailure && codes.includes(code) && errorCatalogue[code].status === status ? undefined : fault
}

describe('whatever is sent', () => {
  let api: Api
  let partner: ApiPartner
  let stranger: ApiPartner
  let foreign: string
  let agent: Agent
  beforeAll(async () => {
    api = await prepareApi()
    partner = await api.addPartner()
    stranger = await api.addPartner()
    // leads 1 and 2, which the bodies above like to name
    await stranger.createLead({ partner_lead_id: 'theirs' })
    await partner.createLead({ partner_lead_id: 'ours' })
    foreign = await rowOf(1)
    await api.app.listen({ host: '127.0.0.1', port: 0 })
    agent = new HttpAgent({ keepAlive: true, maxSockets: 8 })
  })
  afterAll(() => agent.destroy())

  const rowOf = async (id: number) =>
    JSON.stringify(await api.sql.selectFrom('leads').selectAll().where('id', '=', id).execute())

  /** Through a real socket: `inject` would not refuse what Node refuses. */
  function send(method: string, path: string, headers: Record<string, string>, body: string | Buffer) {
    const { port } = api.app.server.address() as AddressInfo
    return new Promise<Received>((resolve, reject) => {
      const call = request({ port, host: '127.0.0.1', method, path, headers, agent }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const { statusCode: status = 0, headers: received } = response
          resolve({ status, text: Buffer.concat(chunks).toString(), type: received['content-type'] })
        })
      })
      call.on('error', reject)
      call.end(body)
    })
  }

  it.each(posts)(
    '%s gives only answers of the specified shapes, and touches no other partner’s lead',
    async (path) => {
      await fc.assert(
        fc.asyncProperty(bodies, contentType, async (body, type) => {
          const headers = { 'content-type': type, authorization: `Service-Key ${partner.key}` }
          const answer = await send('POST', `/v1/${path}`, headers, body)
          expect(faultOf(answer, answers[path] ?? [])).toBeUndefined()
        }),
        { numRuns: RUNS },
      )
      expect(await rowOf(1)).toBe(foreign)
    },
  )

  it('update-partner-info never changes a lead’s own fields, and get-lead gives back what it stored', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.oneof(field, text), fc.oneof(likely, text)), async (fields) => {
        const leadId = await partner.createLead({ partner_lead_id: 'ours' })
        const before = { ...(await partner.readLead(leadId)), updated_at: expect.any(String) }
        const { status } = await partner.post('update-partner-info', { ...fields, lead_id: leadId })
        const lead = await partner.readLead(leadId)
        const stored = Object.entries(fields).filter(([name, value]) => value !== null && name !== 'lead_id')
        const metadata = Object.fromEntries(
          stored.map(([name, value]) => [
            name,
            name === 'property_state' ? String(value).toUpperCase() : value,
          ]),
        )
        expect(lead).toEqual(status === 200 ? { ...metadata, ...before } : before)
      }),
      { numRuns: RUNS },
    )
  })

  it('in headers and key: 401 or an answer of the specified shape', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...posts), someHeaders, async (path, headers) => {
        const all = {
          'content-type': 'application/json',
          authorization: `Service-Key ${partner.key}`,
          ...headers,
        }
        const answer = await send('POST', `/v1/${path}`, all, '{"lead_id": 2}')
        expect(faultOf(answer, [...(answers[path] ?? []), 'AUTH_FAILED'])).toBeUndefined()
      }),
      { numRuns: RUNS },
    )
  })

  it('as method and address: 404, 405 or an answer of the specified shape', async () => {
    await fc.assert(
      fc.asyncProperty(methods, addresses, async (method, path) => {
        const answer = await send(method, path, {}, '')
        expect(faultOf(answer, ['NOT_FOUND', 'METHOD_NOT_ALLOWED', 'AUTH_FAILED'])).toBeUndefined()
      }),
      { numRuns: RUNS * 3 },
    )
  })
})
