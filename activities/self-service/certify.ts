import { generateSecret } from '../../src/core/deliveries/webhooks/secrets.ts'
import { certificationCall } from '../../src/capabilities/self-service/webhooks/certification-call.ts'
import {
  type CertificationCheck,
  type CheckReport,
  judgeCheck,
  notSent,
} from '../../src/capabilities/self-service/decisions/certification.ts'
import type { Environment } from '../../src/core/values/environment.ts'
import {
  candidateOf,
  endCertification,
  writeReports,
} from '../../src/capabilities/self-service/statements/certifications.ts'
import type { Sql } from '../../src/core/database/orm.ts'
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

type Candidate = NonNullable<Awaited<ReturnType<typeof candidateOf>>>

/** What an operator sees of a check: no URL, no body. Without a response, the checks after it are not sent. */
export type CheckOutcome = Pick<CheckReport, 'result' | 'received'> & { isAnswered: boolean }

export function certificationActivities(dependencies: Dependencies) {
  const { sql, environment, send, encryptionKeys, startEndpoint } = dependencies
  return {
    /**
     * Makes one call of a certification and writes down what came of it. Made again after a crash, it repeats the same id.
     *
     * @returns `null` if the candidate was replaced or canceled meanwhile.
     */
    async certify(certificationId: number, check: CertificationCheck): Promise<CheckOutcome | null> {
      const candidate = await candidateOf(sql, certificationId, encryptionKeys)
      if (candidate === undefined) return null
      const outcome = await send(callOf(check, { ...candidate, certificationId, environment }))
      const isAnswered = outcome.status !== null
      const clock = clockAdvice(outcome.responseHeaders?.date, Date.now())
      const report = judgeCheck(check, outcome, { valid: candidate.reports.valid?.result, clock })
      await writeReports(sql, certificationId, isAnswered ? [report] : [report, ...notSent(check)])
      return { result: report.result, received: report.received, isAnswered }
    },

    /** Ends a certification; if it passed, the URL changes over. */
    async endCertification(certificationId: number): Promise<string> {
      const { result, changedOver } = await endCertification(sql, certificationId, encryptionKeys)
      if (changedOver !== undefined) await startEndpoint(changedOver).catch(() => undefined)
      return result
    },
  }
}

/** The request of a check, signed or forged. */
function callOf(check: CertificationCheck, { url, secret, ...facts }: Candidate & CallFacts) {
  const { sentBody, isForged, ...signed } = certificationCall(check, { ...facts, now: new Date() })
  const secrets = [isForged ? generateSecret() : secret]
  return { url, headers: signedHeaders({ ...signed, secrets }), body: sentBody }
}

interface CallFacts {
  certificationId: number
  environment: Environment
}
