import { expect } from '@jest/globals'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { KyselyPlugin } from 'kysely'
import { apiPatience, buildApp } from '../../src/app.ts'
import type { ConnectionLimits } from '../../src/http/http-server.ts'
import { remembered, requireDeployment } from '../../src/database/deployment.ts'
import { issueKey } from '../../src/partners/keys.ts'
import { lackingKeys } from '../../src/seal.ts'
import { connect } from '../../src/database/orm.ts'
import { sqlOf } from '../../src/database/sql.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { watchReadiness } from '../../src/database/readiness.ts'
import { recordClosing } from '../../src/leads/close-lead.ts'
import { otherSchema } from '../../src/database/schema.ts'
import type { ReferralState } from '../../src/leads/referral-state.ts'
import { createLogger } from '../../src/observe/log.ts'
import { atEnd } from './at-end.ts'
import { freshDatabase } from './database.ts'
import type { Resender } from '../../src/deliveries/resends.ts'
import type { EndpointSettings } from '../../src/endpoints/own-endpoint.ts'
import { sandboxOf } from './sandbox/api.ts'
import { selfServiceOf } from './self-service/api.ts'
import { testKeys } from './test-keys.ts'

interface ApiOptions {
  environment?: 'sandbox' | 'production'
  rateLimit?: number
  limits?: Partial<ConnectionLimits>
  tls?: { cert: string; key: string }
  trustProxy?: string
  encryptionKeys?: readonly Buffer[]
  /** What becomes of the rows that PostgreSQL answers, before the API has them. */
  changeRows?: KyselyPlugin
  sandbox?: ReturnType<typeof sandboxOf>
  endpointRequests?: EndpointSettings['endpointRequests']
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

/** The API on its own database, which is dropped after the file's tests. The log is kept in memory. */
export async function prepareApi({
  environment = 'sandbox',
  rateLimit = 0,
  through = String,
  encryptionKeys = testKeys,
  changeRows,
  sandbox,
  ...more
}: ApiOptions = {}) {
  const database = await freshDatabase()
  const orm = await connect(await through(database.url), apiPatience)
  const sql = changeRows === undefined ? sqlOf(orm) : sqlOf(orm).withPlugin(changeRows)
  const logged: string[] = []
  const started: ReferralState[] = []
  const resent: string[] = []
  /** Workflows that would be started for an endpoint. */
  const requested: string[] = []
  const log = createLogger('trace', 'api', { destination: { write: (line) => void logged.push(line) } })
  const findFault = async () => (await otherSchema(sql)) ?? lackingKeys(sql, encryptionKeys)
  const hasNoFault = watchReadiness(findFault, (remedy) => void logged.push(remedy))
  const deployment = remembered(() => requireDeployment(sql, environment))
  const app = await buildApp({
    environment,
    sql,
    isDatabaseReady: async () => (await hasNoFault()) && deployment().then(() => true),
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
    // by room
    ...selfServiceOf(requested),
    sandbox: sandbox ?? sandboxOf(),
    ...more,
  })
  await app.ready()
  atEnd(async () => {
    await app.close()
    await orm.close()
    await database.drop()
  })
  const partner = async () => addPartnerOf(app, orm.em.fork(), environment)
  return { app, orm, sql, logged, started, resent, requested, addPartner: partner, ...callsOf(app) }
}

export type Api = Awaited<ReturnType<typeof prepareApi>>
export type ApiPartner = Awaited<ReturnType<Api['addPartner']>>

type Em = Parameters<typeof addPartner>[0]

async function addPartnerOf(app: FastifyInstance, em: Em, environment: 'sandbox' | 'production') {
  const { id } = await addPartner(em, { name: 'First Lender' })
  const { key, id: keyId } = await issueKey(em, id, environment)
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
