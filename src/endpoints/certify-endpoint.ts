import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { recordAudit } from '../audit.ts'
import { jsonb, type Sql } from '../database/sql.ts'
import { ApiError, invalidRequest, unavailable } from '../http/errors.ts'
import { flag } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { strictBody } from '../http/schemas.ts'
import { auditName } from '../values.ts'
import {
  type Certification,
  certificationChecks,
  type CertificationRequest,
  type CheckReport,
} from './certification-checks.ts'
import { endpointResponse, viewOf } from './endpoint-view.ts'
import { findEndpoint, type LockedEndpoint, lockEndpoint } from './endpoint.ts'
import { changeOwnEndpoint, type EndpointDependencies } from './own-endpoint.ts'
import { secretAt, secretPlace } from './secrets.ts'
import { switchAsPartner } from './switch-endpoint.ts'

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
  ...endpointResponse,
  errors: [sandboxOnly(), new ApiError('NO_CANDIDATE')],
})

type Options = Pick<EndpointDependencies, 'sql' | 'environment' | 'endpointRequests'>

/** POST /certify-endpoint (extension): checks that the new URL verifies what it gets, and then switches to it. */
export const certifyEndpoint: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, environment, endpointRequests } = options
  app.post('/certify-endpoint', {
    schema,
    handler: async (request) => {
      const { partnerId, keyId } = request
      const { accept_failures: acceptFailures } = request.body
      if (acceptFailures && environment === 'production') throw sandboxOnly()
      const { begun } = await changeOwnEndpoint(sql, request, 'endpoint.certify', (trx, endpoint) =>
        beginCertification(trx, endpoint, acceptFailures),
      )
      const { candidate, requestedAt } = begun
      const asked = { partnerId, candidate, requestedAt, acceptFailures, requestedBy: auditName(keyId) }
      // if it does not start, the partner's next call starts it
      await endpointRequests.certify(asked).catch((err: unknown) => {
        request.log.warn({ err }, 'the certification was not started')
        throw unavailable()
      })
      return { success: true as const, data: await viewOf(sql, partnerId) }
    },
  })
}

/** Begins the certification of an endpoint's candidate, or returns the one that is running. */
export async function beginCertification(
  trx: Sql,
  { id, candidate, candidate_url: url, certification }: LockedEndpoint,
  acceptFailures: boolean,
): Promise<{ begun: Certification; audit: Record<string, unknown> | null }> {
  if (candidate === null || url === null) throw new ApiError('NO_CANDIDATE')
  if (certification?.state === 'running') return { begun: certification, audit: null }
  const requestedAt = new Date().toISOString()
  const begun: Certification = { candidate, url, state: 'running', requestedAt, finishedAt: null, checks: [] }
  await write(trx, id, begun)
  return { begun, audit: { candidate, accept_failures: acceptFailures } }
}

async function write(trx: Sql, endpointId: number, certification: Certification): Promise<void> {
  const endpoint = trx.updateTable('endpoints').where('id', '=', endpointId)
  await endpoint.set({ certification: jsonb(certification) }).execute()
}

/** Which certification: once the endpoint's row has another, or none, this one has no effect. */
type Which = Pick<CertificationRequest, 'partnerId' | 'candidate' | 'requestedAt'>

const ofRequest = (found: Certification | null, { candidate, requestedAt }: Which) =>
  found?.candidate === candidate && found.requestedAt === requestedAt ? found : undefined

/**
 * The URL and the secret of a running certification, and its reports so far; `undefined` once it has ended, or has no effect.
 *
 * @throws {SealError}
 */
export async function candidateOf(sql: Sql, which: Which, encryptionKeys: readonly Buffer[]) {
  const found = ofRequest((await findEndpoint(sql, which.partnerId)).certification, which)
  if (found?.state !== 'running') return undefined
  const secret = await secretAt(sql, secretPlace(which.candidate), encryptionKeys)
  return secret === undefined ? undefined : { url: found.url, checks: found.checks, secret }
}

/** Writes the report of a check. When a crash repeats a check, the later report counts. */
export async function writeReport(sql: Sql, which: Which, report: CheckReport): Promise<void> {
  await sql.transaction().execute(async (trx) => {
    const { id, certification } = await lockEndpoint(trx, which.partnerId)
    const found = ofRequest(certification, which)
    if (found === undefined) return
    const earlier = found.checks.filter(({ check }) => check !== report.check)
    await write(trx, id, { ...found, checks: [...earlier, report] })
  })
}

/**
 * Ends a certification. If it passed, or its failures are accepted, the endpoint switches to the candidate in the same
 * transaction. `superseded`: the candidate was replaced or dropped meanwhile.
 */
export async function endCertification(sql: Sql, request: CertificationRequest) {
  const { partnerId, candidate, acceptFailures, requestedBy } = request
  return sql.transaction().execute(async (trx) => {
    const endpoint = await lockEndpoint(trx, partnerId)
    const endpointId = endpoint.id
    const found = ofRequest(endpoint.certification, request)
    if (found?.state !== 'running') return { endpointId, result: found?.state ?? 'superseded' }
    const passed = new Set(found.checks.flatMap(({ check, result }) => (result === 'passed' ? check : [])))
    const failed = certificationChecks.filter((check) => !passed.has(check))
    const state = failed.length === 0 ? 'passed' : 'failed'
    const switched = state === 'passed' || acceptFailures
    if (switched) await switchAsPartner(trx, endpoint, { url: found.url, secretId: candidate })
    await write(trx, endpointId, { ...found, state, finishedAt: new Date().toISOString() })
    const { origin } = new URL(found.url)
    const detail = { candidate, origin, failed_checks: failed, switched }
    const action = 'endpoint.certification_ended'
    await recordAudit(trx, requestedBy, { action, partnerId, detail, outcome: 'done' })
    return { endpointId, result: state }
  })
}
