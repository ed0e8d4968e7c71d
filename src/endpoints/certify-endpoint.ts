import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { recordAudit } from '../audit.ts'
import { jsonb, type Sql } from '../database/sql.ts'
import { ApiError, invalidRequest, unavailable } from '../http/errors.ts'
import { flag } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { strictBody, success } from '../http/schemas.ts'
import { open } from '../seal.ts'
import {
  type Certification,
  certificationChecks,
  type CertificationRequest,
  type CheckReport,
} from './certification-checks.ts'
import { endpointView, exampleView, viewOf } from './endpoint-view.ts'
import { columnsOf, nextRevision } from './endpoint.ts'
import { oweNotice } from './notices.ts'
import {
  actOnOwnEndpoint,
  actorOf,
  orRefusal,
  selfServiceOff,
  SelfServiceRefusal,
  type SelfServiceRouteDependencies,
} from './own-endpoint.ts'
import { secretPlace } from './secrets.ts'
import { type LockedEndpoint, lockEndpoint, switchTo } from './switch-endpoint.ts'

/** Which certification: once the endpoint's row has another, or none, it counts for nothing. */
type Which = Pick<CertificationRequest, 'partnerId' | 'candidate' | 'requestedAt'>

const isOf = (found: Certification | null | undefined, { candidate, requestedAt }: Which) =>
  found?.candidate === candidate && found.requestedAt === requestedAt

/**
 * Begins the certification of an endpoint's candidate, or answers the one that is running. `undefined` without a candidate.
 */
export async function beginCertification(
  trx: Sql,
  { id, candidate, candidate_url: url, certification }: LockedEndpoint,
): Promise<{ certification: Certification; isNew: boolean } | undefined> {
  if (candidate === null || url === null) return undefined
  if (certification?.state === 'running') return { certification, isNew: false }
  const requestedAt = new Date().toISOString()
  const begun: Certification = { candidate, url, state: 'running', requestedAt, finishedAt: null, checks: [] }
  await write(trx, id, begun)
  return { certification: begun, isNew: true }
}

async function write(trx: Sql, endpointId: number, certification: Certification | null): Promise<void> {
  const endpoint = trx.updateTable('endpoints').where('id', '=', endpointId)
  await endpoint.set({ certification: jsonb(certification) }).execute()
}

/** Forgets one that no workflow was started for. */
async function forgetCertification(sql: Sql, which: Which): Promise<void> {
  await sql.transaction().execute(async (trx) => {
    const endpoint = await lockEndpoint(trx, which.partnerId)
    if (endpoint && isOf(endpoint.certification, which)) await write(trx, endpoint.id, null)
  })
}

/**
 * Where the calls of a running certification go, their secret, and what came of those so far; `undefined` if it has ended,
 * or counts for nothing.
 *
 * @throws {SealError}
 */
export async function candidateOf(sql: Sql, which: Which, encryptionKeys: readonly Buffer[]) {
  const found = await sql
    .selectFrom('endpoints')
    .innerJoin('endpoint_secrets', 'endpoint_secrets.id', 'candidate')
    .select(['certification', 'ciphertext'])
    .where('partner_id', '=', which.partnerId)
    .executeTakeFirst()
  if (found?.certification?.state !== 'running' || !isOf(found.certification, which)) return undefined
  const { url, checks } = found.certification
  return { url, checks, secret: open(found.ciphertext, secretPlace(which.candidate), encryptionKeys) }
}

/** Writes down what came of checks; repeated after a crash, the later one counts. */
export async function writeReports(sql: Sql, which: Which, reports: readonly CheckReport[]): Promise<void> {
  await sql.transaction().execute(async (trx) => {
    const endpoint = await lockEndpoint(trx, which.partnerId)
    if (!endpoint?.certification || !isOf(endpoint.certification, which)) return
    const later = new Set(reports.map(({ check }) => check))
    const earlier = endpoint.certification.checks.filter(({ check }) => !later.has(check))
    await write(trx, endpoint.id, { ...endpoint.certification, checks: [...earlier, ...reports] })
  })
}

interface Ended {
  /** `superseded`: the candidate was replaced or dropped meanwhile. */
  result: Certification['state'] | 'superseded'
  /** The endpoint, if it was switched. */
  switched?: number
}

/**
 * Ends a certification. If it passed, or its failures are accepted, the endpoint switches to the candidate in the same
 * transaction.
 */
export async function endCertification(sql: Sql, request: CertificationRequest): Promise<Ended> {
  const { partnerId, candidate, acceptFailures, requestedBy } = request
  return sql.transaction().execute(async (trx) => {
    const endpoint = await lockEndpoint(trx, partnerId)
    if (!endpoint?.certification || !isOf(endpoint.certification, request)) return { result: 'superseded' }
    const { certification } = endpoint
    if (certification.state !== 'running')
      return { result: certification.state, ...(endpoint.candidate === null && { switched: endpoint.id }) }
    const passed = certification.checks.flatMap(({ check, result }) => (result === 'passed' ? check : []))
    const failed = certificationChecks.filter((check) => !passed.includes(check))
    const state = failed.length === 0 ? 'passed' : 'failed'
    const isSwitched = state === 'passed' || acceptFailures
    const { url } = certification
    if (isSwitched) {
      const target = { url, secretId: candidate }
      await switchAsPartner(trx, endpoint, target)
    }
    await write(trx, endpoint.id, { ...certification, state, finishedAt: new Date().toISOString() })
    const detail = { candidate, origin: new URL(url).origin, failed_checks: failed, switched: isSwitched }
    const action = { action: 'endpoint.certification_ended', partnerId, detail }
    await recordAudit(trx, requestedBy, { ...action, outcome: 'done' })
    return { result: state, ...(isSwitched && { switched: endpoint.id }) }
  })
}

/** Held webhooks are sent in order from here on, unless staff paused the endpoint. Partner and staff are told. */
export async function switchAsPartner(
  trx: Sql,
  endpoint: LockedEndpoint,
  target: Parameters<typeof switchTo>[2],
): Promise<void> {
  const columns = endpoint.pausedBy === 'staff' ? { revision: nextRevision } : columnsOf('set')
  await switchTo(trx, endpoint, target, columns)
  await oweNotice(trx, endpoint.partner_id, 'url_changed')
}

const sandboxOnly = () =>
  invalidRequest({ field: 'accept_failures', problem: 'is possible in a sandbox only' })

const schema = operation({
  operationId: 'certifyEndpoint',
  tags: ['Endpoint'],
  summary: 'Certify the new URL of your endpoint',
  description:
    'Starts the certification of the URL that set-endpoint stored. We send six requests to it: your receiver must accept a signed webhook, the same one again, and one of an unknown type, and refuse a forged signature, an old timestamp and a changed body. get-endpoint shows the result of each, and what to change. When all pass, the URL and its secret take effect together, and held webhooks are sent in order: at once, and we email your contact. Calling it again while a certification runs changes nothing.',
  body: strictBody({
    accept_failures: flag
      .default(false)
      .describe('In a sandbox: the URL takes effect even if checks fail; `false` by default.'),
  }),
  bodyExamples: { strict: {}, sandbox: { accept_failures: true } },
  response: z.object({ success, data: endpointView }),
  responseDescription: 'The certification runs. get-endpoint shows how it goes.',
  responseExamples: {
    running: {
      success: true,
      data: {
        ...exampleView,
        candidate: {
          url: 'https://hooks.lender.example.com/v2',
          requested_at: '2026-03-09 10:00:00',
        },
        certification: {
          url: 'https://hooks.lender.example.com/v2',
          state: 'running',
          requested_at: '2026-03-09 10:00:30',
          finished_at: null,
          checks: [],
        },
      },
    },
  },
  errors: [sandboxOnly(), selfServiceOff(), new ApiError('NO_CANDIDATE')],
})

type Options = Pick<SelfServiceRouteDependencies, 'sql' | 'environment' | 'endpointRequests'>

/** POST /certify-endpoint (extension): checks that the new URL verifies what it takes, and then switches to it. */
export const certifyEndpoint: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, environment, endpointRequests } = options
  app.post('/certify-endpoint', {
    schema,
    handler: async (request) => {
      const { accept_failures: acceptFailures } = request.body
      if (acceptFailures && environment === 'production') throw sandboxOnly()
      const { asked } = await orRefusal(
        actOnOwnEndpoint(
          sql,
          'certify',
          actorOf(request, environment),
          async (trx, endpoint, requestedBy) => {
            const begun = await beginCertification(trx, endpoint)
            if (begun === undefined) throw new SelfServiceRefusal('no_candidate')
            const { candidate, requestedAt } = begun.certification
            const { partnerId } = request
            return {
              asked: { partnerId, candidate, requestedAt, acceptFailures, requestedBy },
              audit: begun.isNew ? { candidate, accept_failures: acceptFailures } : null,
            }
          },
        ),
      )
      await endpointRequests.certify(asked).catch(async (err: unknown) => {
        request.log.warn({ err }, 'the certification was not started')
        await forgetCertification(sql, asked)
        throw unavailable()
      })
      return { success: true as const, data: await viewOf(sql, request.partnerId) }
    },
  })
}
