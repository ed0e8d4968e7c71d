import type { Sql } from '../src/database/sql.ts'
import {
  type CertificationCheck,
  type CertificationRequest,
  type CheckReport,
  judgeCheck,
} from '../src/endpoints/certification-checks.ts'
import { candidateOf, endCertification, writeReport } from '../src/endpoints/certify-endpoint.ts'
import type { PingOutcome } from '../src/endpoints/endpoint-state.ts'
import { signingSecrets } from '../src/endpoints/secrets.ts'
import type { Environment } from '../src/values.ts'
import {
  CERTIFICATION_TYPE,
  certificationBody,
  UNKNOWN_TYPE,
  withOneByteChanged,
} from '../src/webhooks/body.ts'
import { sendPing, type SendWebhook } from '../src/webhooks/send.ts'
import { generateSecret, signedHeaders } from '../src/webhooks/signature.ts'

interface Dependencies {
  sql: Sql
  environment: Environment
  send: SendWebhook
  encryptionKeys: readonly Buffer[]
  /** Starts the workflow that sends what was held; the comparison starts it if this fails. */
  startEndpoint: (endpointId: number) => Promise<unknown>
}

/** What an operator sees of a check: no URL, no body. Without a response, the checks after it are not sent. */
export type CheckOutcome = Pick<CheckReport, 'result' | 'received'> & { isAnswered: boolean }

/** The requests to endpoints that are no webhooks: those of certifications, and test requests. */
export function certificationActivities(dependencies: Dependencies) {
  const { sql, environment, send, encryptionKeys, startEndpoint } = dependencies
  return {
    /**
     * Makes one call of a certification and writes down what came of it. Made again after a crash, it repeats the same id.
     *
     * @returns `null` if the candidate was replaced or dropped meanwhile.
     */
    async certify(request: CertificationRequest, check: CertificationCheck): Promise<CheckOutcome | null> {
      const candidate = await candidateOf(sql, request, encryptionKeys)
      if (candidate === undefined) return null
      const call = certificationCall(check, { ...request, environment, secret: candidate.secret })
      const outcome = await send({ url: candidate.url, ...call })
      const valid = candidate.checks.find((report) => report.check === 'valid')?.result
      const report = judgeCheck(check, outcome, valid)
      await writeReport(sql, request, report)
      return { result: report.result, received: report.received, isAnswered: outcome.status !== null }
    },

    /** Ends a certification; if it passed, the endpoint switches to the URL. */
    async endCertification(request: CertificationRequest): Promise<string> {
      const { result, endpointId } = await endCertification(sql, request)
      await startEndpoint(endpointId).catch(() => undefined)
      return result
    },

    /** Makes a test request, signed with every live secret. `null` if the endpoint has no URL. */
    async pingEndpoint(endpointId: number): Promise<PingOutcome | null> {
      const { url, partner_id: partnerId } = await sql
        .selectFrom('endpoints')
        .select(['url', 'partner_id'])
        .where('id', '=', endpointId)
        .executeTakeFirstOrThrow()
      if (url === null) return null
      const secrets = await signingSecrets(sql, endpointId, encryptionKeys)
      return sendPing({ url, partnerId, environment, secrets }, send)
    },
  }
}

/** Older than any receiver accepts: libraries allow five minutes. */
const TOO_OLD_MS = 10 * 60 * 1000

/** The request of a check. `repeated` is `valid` again, byte for byte apart from its time and signature. */
function certificationCall(
  check: CertificationCheck,
  call: CertificationRequest & { environment: Environment; secret: string },
) {
  const { candidate, partnerId, environment, secret } = call
  // with the candidate's number, the requests of this certification have ids of their own
  const requestedAt = new Date(call.requestedAt)
  const type = check === 'unknown_type' ? UNKNOWN_TYPE : CERTIFICATION_TYPE
  const body = certificationBody(type, requestedAt, { partner_id: partnerId, environment })
  const headers = signedHeaders({
    id: `cert_${candidate}_${requestedAt.getTime()}_${check === 'repeated' ? 'valid' : check}`,
    body,
    at: new Date(Date.now() - (check === 'old_timestamp' ? TOO_OLD_MS : 0)),
    secrets: [check === 'forged_signature' ? generateSecret() : secret],
  })
  return { headers, body: check === 'changed_body' ? withOneByteChanged(body) : body }
}
