import { sleep } from '@temporalio/activity'
import type { Sql } from '../src/database/sql.ts'
import { type CertificationCheck, judgeCheck, nextCheck } from '../src/endpoints/certification-checks.ts'
import {
  runningCertification,
  type RunningCertification,
  writeReport,
} from '../src/endpoints/certify-endpoint.ts'
import { findEndpoint } from '../src/endpoints/endpoint.ts'
import { signingSecrets } from '../src/endpoints/secrets.ts'
import type { Environment } from '../src/values.ts'
import {
  CERTIFICATION_TYPE,
  certificationBody,
  UNKNOWN_TYPE,
  withOneByteChanged,
} from '../src/webhooks/body.ts'
import { type PingOutcome, sendPing, type SendWebhook } from '../src/webhooks/send.ts'
import { generateSecret, signedHeaders } from '../src/webhooks/signature.ts'

interface Dependencies {
  sql: Sql
  environment: Environment
  send: SendWebhook
  encryptionKeys: readonly Buffer[]
}

/** Requests to endpoints that are no webhooks: the checks of certifications, and test requests. */
export function certificationActivities({ sql, environment, send, encryptionKeys }: Dependencies) {
  return {
    /**
     * Makes the next check of an endpoint's certification and writes its report. A check that is repeated after a crash has
     * the same id.
     *
     * @returns whether a check was made: there may be more to do.
     */
    async certify(partnerId: number): Promise<boolean> {
      const running = await runningCertification(sql, partnerId, encryptionKeys)
      if (running === undefined) return false
      const check = nextCheck(running.checks)
      if (check === undefined) return false
      const valid = running.checks.find((report) => report.check === 'valid')?.result
      // a host that refused the first request gets the others slowly
      if (valid !== undefined && valid !== 'passed') await sleep('1 second')
      const outcome = await send({ url: running.url, ...certificationCall(check, running, environment) })
      await writeReport(sql, running, judgeCheck(check, outcome, valid))
      return true
    },

    /** Makes a test request, signed with every live secret. */
    async pingEndpoint(partnerId: number): Promise<PingOutcome> {
      const { url } = await findEndpoint(sql, partnerId)
      if (url === null) throw new Error('the endpoint has no URL')
      const secrets = await signingSecrets(sql, partnerId, encryptionKeys)
      return sendPing({ url, partnerId, environment, secrets }, send)
    },
  }
}

/** Older than any receiver accepts: libraries allow five minutes. */
const TOO_OLD_MS = 10 * 60 * 1000

/** The request of a check. `repeated` is `valid` again, byte for byte apart from its time and signature. */
function certificationCall(
  check: CertificationCheck,
  { candidate, partnerId, secret, requestedAt: at }: RunningCertification,
  environment: Environment,
) {
  // with the candidate's number, it makes the ids of this certification's requests unique
  const requestedAt = new Date(at)
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
