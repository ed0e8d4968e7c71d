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
  type CheckReport,
  nextCheck,
} from './certification-checks.ts'
import { endpointResponse, viewOf } from './get-endpoint.ts'
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
    'Starts the certification of the URL that set-endpoint stored. We send six requests to it: your receiver must accept a signed webhook, the same one again, and one of an unknown type, and refuse a forged signature, an old timestamp and a changed body. get-endpoint shows the result of each, and what to change. When all pass, the URL and its secret take effect at once, held webhooks are sent in order, and we email your contact. Calling it again while a certification runs changes nothing.',
  body: strictBody({
    accept_failures: flag
      .default(false)
      .describe('In a sandbox: the URL takes effect even if checks fail; `false` by default.'),
  }),
  bodyExamples: { strict: {}, sandbox: { accept_failures: true } },
  ...endpointResponse,
  errors: [sandboxOnly(), new ApiError('NO_CANDIDATE')],
})

/** POST /certify-endpoint (extension): checks that the new URL verifies what it gets, and then switches to it. */
export const certifyEndpoint: FastifyPluginAsyncZod<EndpointDependencies> = async (app, options) => {
  const { sql, environment, endpointRequests } = options
  app.post('/certify-endpoint', {
    schema,
    handler: async (request) => {
      const { partnerId, keyId } = request
      const { accept_failures: acceptFailures } = request.body
      if (acceptFailures && environment === 'production') throw sandboxOnly()
      const asked = { acceptFailures, requestedBy: auditName(keyId) }
      await changeOwnEndpoint(sql, request, 'endpoint.certify', async (trx, endpoint) => ({
        audit: await beginCertification(trx, endpoint, asked),
      }))
      // if it does not start, the partner's next call or the comparison starts it
      await endpointRequests.certify(partnerId).catch((err: unknown) => {
        request.log.warn({ err }, 'the certification was not started')
        throw unavailable()
      })
      return { success: true as const, data: await viewOf(sql, partnerId) }
    },
  })
}

/**
 * Begins the certification of an endpoint's candidate, unless it is running. The endpoint's workflow makes its checks.
 *
 * @returns what the audit adds; `null` if it was running.
 */
export async function beginCertification(
  trx: Sql,
  { partner_id, candidate, certification }: LockedEndpoint,
  asked: Pick<Certification, 'acceptFailures' | 'requestedBy'>,
): Promise<Record<string, unknown> | null> {
  if (candidate === null) throw new ApiError('NO_CANDIDATE')
  if (certification?.state === 'running') return null
  const requestedAt = new Date().toISOString()
  const begun = { candidate, state: 'running' as const, requestedAt, finishedAt: null, checks: [] }
  await write(trx, partner_id, { ...begun, ...asked })
  return { candidate, accept_failures: asked.acceptFailures }
}

async function write(trx: Sql, partnerId: number, certification: Certification): Promise<void> {
  const endpoint = trx.updateTable('endpoints').where('partner_id', '=', partnerId)
  await endpoint.set({ certification: jsonb(certification) }).execute()
}

export type RunningCertification = NonNullable<Awaited<ReturnType<typeof runningCertification>>>

/**
 * An endpoint's running certification, with the URL and the secret of its candidate.
 *
 * @throws {SealError}
 */
export async function runningCertification(sql: Sql, partnerId: number, encryptionKeys: readonly Buffer[]) {
  const { certification, candidate_url: url } = await findEndpoint(sql, partnerId)
  if (certification?.state !== 'running' || url === null) return undefined
  const secret = await secretAt(sql, secretPlace(certification.candidate), encryptionKeys)
  return secret === undefined ? undefined : { ...certification, partnerId, url, secret }
}

/**
 * Writes the report of a check, unless the candidate was replaced or dropped meanwhile. When a crash repeats a check, the
 * later report counts. With the last one, the certification ends: if it passed, or its failures are accepted, the endpoint
 * switches to the candidate.
 */
export async function writeReport(
  sql: Sql,
  { partnerId, candidate, url }: RunningCertification,
  report: CheckReport,
): Promise<void> {
  await sql.transaction().execute(async (trx) => {
    const endpoint = await lockEndpoint(trx, partnerId)
    const { certification: found } = endpoint
    if (found?.state !== 'running' || found.candidate !== candidate) return
    const checks = [...found.checks.filter(({ check }) => check !== report.check), report]
    if (nextCheck(checks) !== undefined) return write(trx, partnerId, { ...found, checks })
    const { acceptFailures, requestedBy } = found
    const passed = new Set(checks.flatMap(({ check, result }) => (result === 'passed' ? check : [])))
    const failed = certificationChecks.filter((check) => !passed.has(check))
    const state = failed.length === 0 ? 'passed' : 'failed'
    const switched = state === 'passed' || acceptFailures
    if (switched) await switchAsPartner(trx, endpoint, { url, secretId: candidate })
    await write(trx, partnerId, { ...found, checks, state, finishedAt: new Date().toISOString() })
    const detail = { candidate, origin: new URL(url).origin, failed_checks: failed, switched }
    const action = 'endpoint.certification_ended'
    await recordAudit(trx, requestedBy, { action, partnerId, detail, outcome: 'done' })
  })
}
