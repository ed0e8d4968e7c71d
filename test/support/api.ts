import { expect } from '@jest/globals'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { buildApp } from '../../src/app.ts'
import type { ConnectionLimits } from '../../src/http/http-server.ts'
import { remembered } from '../../src/database/deployment.ts'
import { issueKey } from '../../src/partners/keys.ts'
import { connect, patience } from '../../src/database/orm.ts'
import { type Sql, sqlOf } from '../../src/database/sql.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { requireRecord } from '../../src/database/readiness.ts'
import { recordClosing } from '../../src/leads/close-lead.ts'
import type { ReferralState } from '../../src/leads/referral-state.ts'
import { createLogger } from '../../src/observe/log.ts'
import { atEnd } from './at-end.ts'
import { freshDatabase } from './database.ts'
import type { Resender } from '../../src/deliveries/resends.ts'
import type { EndpointDependencies } from '../../src/endpoints/own-endpoint.ts'
import type { SandboxDependencies } from '../../src/sandbox/ask-lead.ts'
import { testKeys } from './test-keys.ts'

interface ApiOptions {
  environment?: 'sandbox' | 'production'
  rateLimit?: number
  limits?: Partial<ConnectionLimits>
  tls?: { cert: string; key: string }
  trustProxy?: string
  encryptionKeys?: readonly Buffer[]
  sandbox?: SandboxDependencies
  endpointRequests?: EndpointDependencies['endpointRequests']
  resendWebhook?: Resender['resend']
  /** Maps the database's URL to the one to connect to, for example a proxy's. */
  through?: (url: string) => Promise<string> | string
}

export const borrower = {
  first_name: 'Ada',
  last_name: 'Miller',
  email: 'ada@example.com',
  phone: '+1 555-0100',
}

/** A sandbox without a Temporal server: updates get fixed answers. */
export const sandboxWithoutTemporal: SandboxDependencies = {
  referrals: {
    update: (async (_: number, { name }: { name: string }, [{ events }]: [{ events: object[] }]) =>
      name === 'simulate'
        ? events.map(() => ({ outcome: 'accepted', event_id: null }))
        : { stands: [], stopped: null }) as unknown as SandboxDependencies['referrals']['update'],
  },
  isMoving: async () => false,
  reachTemporal: async () => {},
  sinkBase: () => 'http://127.0.0.1:1/v1',
}

/** The API on its own database, which is dropped after the file's tests. The log is kept in memory. */
export async function prepareApi({
  environment = 'sandbox',
  rateLimit = 0,
  through = String,
  encryptionKeys = testKeys,
  ...more
}: ApiOptions = {}) {
  const database = await freshDatabase()
  const orm = await connect(await through(database.url), patience.api)
  const sql = sqlOf(orm)
  const logged: string[] = []
  const started: ReferralState[] = []
  const resent: string[] = []
  /** Workflows that would be started for an endpoint. */
  const requested: string[] = []
  const log = createLogger('trace', 'api', { destination: { write: (line) => void logged.push(line) } })
  const app = await buildApp({
    environment,
    sql,
    requireRecord: remembered(() => requireRecord(sql, environment, encryptionKeys)),
    log,
    startReferral: (state) => void started.push(state),
    resendWebhook: async ({ event_id: eventId }) => {
      resent.push(eventId)
      return 'accepted'
    },
    startEndpoint: (id) => void requested.push(`endpoint ${id}`),
    erasureLog: undefined,
    closeLead: async (id, reason) => void (await recordClosing(sql, id, reason)),
    encryptionKeys,
    observeRequest: () => {},
    rateLimit,
    endpointRequests: {
      certify: async (partnerId) => void requested.push(`certify ${partnerId}`),
      async ping(partnerId) {
        requested.push(`ping ${partnerId}`)
        const webhook_id = 'ping_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e'
        return { webhook_id, ok: true, status: 200, duration_ms: 5, error_code: null, hint: null }
      },
    },
    allowPrivateNetwork: false,
    sandbox: sandboxWithoutTemporal,
    ...more,
  })
  await app.ready()
  atEnd(async () => {
    await app.close()
    await orm.close()
    await database.drop()
  })
  const partner = async () => addPartnerOf(app, sqlOf(orm), environment)
  const { url } = database
  return { app, orm, sql, url, logged, started, resent, requested, addPartner: partner, ...callsOf(app) }
}

export type Api = Awaited<ReturnType<typeof prepareApi>>
export type ApiPartner = Awaited<ReturnType<Api['addPartner']>>

async function addPartnerOf(app: FastifyInstance, sql: Sql, environment: 'sandbox' | 'production') {
  const { id } = await addPartner(sql, { name: 'First Lender' })
  const { key, id: keyId } = await issueKey(sql, id, environment)
  return { id, key, keyId, ...callsOf(app, { authorization: `Service-Key ${key}` }) }
}

/** In what words a request is refused as invalid. */
export function refusalOf({ status, body }: Answer): string {
  expect([status, body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
  return body.error.message
}

export interface Answer {
  status: number
  headers: LightMyRequestResponse['headers']
  /** The raw body. */
  text: string
  // eslint-disable-next-line typescript/no-explicit-any
  body: any
}

/** The calls of one sender: `post` sends JSON as a partner does, `send` sends anything. */
function callsOf(app: FastifyInstance, always: Record<string, string> = {}) {
  async function send(options: InjectOptions): Promise<Answer> {
    const response = await app.inject({ ...options, headers: { ...always, ...options.headers } })
    const { statusCode: status, headers, body: text } = response
    return { status, headers, text, body: text === '' ? undefined : JSON.parse(text) }
  }
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    send({
      method: 'POST',
      url: `/v1/${path}`,
      headers: { 'content-type': 'application/json', ...headers },
      payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    })
  const createLead = async (fields: object = {}): Promise<number> => {
    const { status, text, body } = await post('create-lead', { ...borrower, ...fields })
    if (status !== 200) throw new Error(`create-lead answered ${status}: ${text}`)
    return body.lead_id
  }
  const readLead = async (leadId: number): Promise<Record<string, unknown>> =>
    (await post('get-lead', { lead_id: leadId })).body.data
  return { send, post, createLead, readLead }
}
