import { request, type Agent, Agent as HttpAgent } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import {
  addresses,
  bodies,
  contentType,
  field,
  likely,
  methods,
  placesIn,
  printable,
  someHeaders,
  text,
} from './arbitraries.ts'
import { postRoutes } from './openapi-document.ts'
import { changeableFields } from '../../src/leads/lead-fields.ts'
import { errorCatalogue } from '../../src/http/errors.ts'
import { answerFault, type Received } from '../support/answer-fault.ts'
import { type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'

/** Cases of each property. Each test run has new values, so common faults are found at once, and rare ones in time. */
const RUNS = 15
const catalogue = Object.entries(errorCatalogue)
/** What no body causes: the key is valid, no limit is set, and nothing is away. */
const others = new Set(['401', '403', '413', '429', '500', '503'])
/** The errors that each route documents, by path. */
const answers = Object.fromEntries(
  postRoutes.map(({ path, responses }) => [
    path,
    catalogue
      .filter(([, { status }]) => status in responses && !others.has(String(status)))
      .map(([code]) => code),
  ]),
)
const posts = Object.keys(answers)

/** Fields of the lead that its partner may change. */
const theirs: readonly string[] = changeableFields

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
    // leads 1 and 2, which the generated bodies often name
    await stranger.createLead({ partner_lead_id: 'theirs' })
    await partner.createLead({ partner_lead_id: 'ours' })
    foreign = await rowOf(1)
    await api.app.listen({ host: '127.0.0.1', port: 0 })
    agent = new HttpAgent({ keepAlive: true, maxSockets: 8 })
  })
  afterAll(() => agent.destroy())

  const rowOf = async (id: number) =>
    JSON.stringify(await api.sql.selectFrom('leads').selectAll().where('id', '=', id).execute())

  /** Through a real socket: `inject` does not reject what Node's HTTP server rejects. */
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
          expect(answerFault(answer, answers[path] ?? [])).toBeUndefined()
        }),
        { numRuns: RUNS },
      )
      expect(await rowOf(1)).toBe(foreign)
    },
  )

  it.each(postRoutes)('$path reads each cursor, id and number in its range', async ({ path, fields }) => {
    await fc.assert(
      fc.asyncProperty(placesIn(fields), async (places) => {
        const headers = { 'content-type': 'application/json', authorization: `Service-Key ${partner.key}` }
        // it would wait for as long as it is told
        const body = { ...places, ...('wait' in places && { wait: 0 }) }
        const answer = await send('POST', `/v1/${path}`, headers, JSON.stringify(body))
        // well-formed ones may be as many as a partner has a day
        expect(answerFault(answer, [...(answers[path] ?? []), 'RATE_LIMITED'])).toBeUndefined()
      }),
      { numRuns: RUNS },
    )
  })

  it('update-partner-info changes what is the partner’s and nothing else of a lead, and get-lead gives it back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.oneof(field, text, printable), fc.oneof(likely, text)),
        async (fields) => {
          const leadId = await partner.createLead({ partner_lead_id: 'ours' })
          const before = { ...(await partner.readLead(leadId)), updated_at: expect.any(String) }
          const { status } = await partner.post('update-partner-info', { ...fields, lead_id: leadId })
          const expected: Record<string, unknown> = { ...before }
          if (status === 200) {
            for (const [name, value] of Object.entries(fields)) {
              if (name === 'lead_id') continue
              if (value === null || (value === '' && theirs.includes(name))) delete expected[name]
              else if (name === 'property_state') expected[name] = (value as string).toUpperCase()
              else expected[name] = value
            }
          }
          expect(await partner.readLead(leadId)).toEqual(expected)
          const { first_name, last_name, email, phone } = borrower
          expect(expected).toMatchObject({
            id: leadId,
            partner_id: partner.id,
            first_name,
            last_name,
            email,
            phone,
          })
        },
      ),
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
        expect(answerFault(answer, [...(answers[path] ?? []), 'AUTH_FAILED'])).toBeUndefined()
      }),
      { numRuns: RUNS },
    )
  })

  it('as method and address: 404, 405 or an answer of the specified shape', async () => {
    await fc.assert(
      fc.asyncProperty(methods, addresses, async (method, path) => {
        const answer = await send(method, path, {}, '')
        expect(answerFault(answer, ['NOT_FOUND', 'METHOD_NOT_ALLOWED', 'AUTH_FAILED'])).toBeUndefined()
      }),
      { numRuns: RUNS * 3 },
    )
  })
})
