import { generateSecret } from '../../src/core/deliveries/webhooks/secrets.ts'
import { certificationCall } from '../../src/capabilities/self-service/webhooks/certification-call.ts'
import {
  type CertificationCheck,
  type CertificationRequest,
  type CheckReport,
  judgeCheck,
  notSent,
} from '../../src/core/endpoints/decisions/certification.ts'
import type { Environment } from '../../src/core/values/environment.ts'
import {
  candidateOf,
  endCertification,
  writeReports,
} from '../../src/capabilities/self-service/statements/certifications.ts'
import type { Sql } from '../../src/core/database/sql.ts'
import { clockAdvice } from '../../src/core/deliveries/webhooks/diagnosis.ts'
import { signedHeaders } from '../../src/core/deliveries/webhooks/signature.ts'
import type { SendWebhook } from '../make-attempt.ts'

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
      const outcome = await send(callOf(check, { ...request, ...candidate, environment }))
      const isAnswered = outcome.status !== null
      const clock = clockAdvice(outcome.responseHeaders?.date, Date.now())
      const valid = candidate.checks.find((report) => report.check === 'valid')?.result
      const report = judgeCheck(check, outcome, { valid, clock })
      await writeReports(sql, request, isAnswered ? [report] : [report, ...notSent(check)])
      return { result: report.result, received: report.received, isAnswered }
    },

    /** Ends a certification; if it passed, the endpoint switches to the URL. */
    async endCertification(request: CertificationRequest): Promise<string> {
      const { result, switched } = await endCertification(sql, request)
      if (switched !== undefined) await startEndpoint(switched).catch(() => undefined)
      return result
    },
  }
}

interface Call extends CertificationRequest {
  url: string
  secret: string
  environment: Environment
}

/** The request of a check, signed or forged. */
function callOf(check: CertificationCheck, { url, secret, requestedAt, ...facts }: Call) {
  const at = { requestedAt: new Date(requestedAt), now: new Date() }
  const { sentBody, isForged, ...signed } = certificationCall(check, { ...facts, ...at })
  const secrets = [isForged ? generateSecret() : secret]
  return { url, headers: signedHeaders({ ...signed, secrets }), body: sentBody }
}
