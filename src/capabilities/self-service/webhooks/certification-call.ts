import type { Environment } from '../../../core/values/environment.ts'
import {
  CERTIFICATION_TYPE,
  certificationBody,
  UNKNOWN_TYPE,
  withOneByteChanged,
} from '../../../core/deliveries/webhooks/service-calls.ts'
import type { CertificationCheck } from '../../../core/endpoints/decisions/certification.ts'

/** Older than any receiver accepts: libraries allow five minutes. */
const TOO_OLD_MS = 10 * 60 * 1000

interface CallFacts {
  /** The number of what is certified: with the time, its requests have ids of their own. */
  candidate: number
  partnerId: number
  environment: Environment
  requestedAt: Date
  now: Date
}

/** The request of a check, before it is signed. */
interface CertificationCall {
  id: string
  /** What is signed. */
  body: string
  /** What is sent. */
  sentBody: string
  at: Date
  /** Signed with a secret that is not the receiver's. */
  isForged: boolean
}

/** The request of a check. `repeated` is `valid` again, byte for byte apart from its time and signature. */
export function certificationCall(
  check: CertificationCheck,
  { candidate, partnerId, environment, requestedAt, now }: CallFacts,
): CertificationCall {
  const type = check === 'unknown_type' ? UNKNOWN_TYPE : CERTIFICATION_TYPE
  const body = certificationBody(type, requestedAt, { partner_id: partnerId, environment })
  return {
    id: `cert_${candidate}_${requestedAt.getTime()}_${check === 'repeated' ? 'valid' : check}`,
    body,
    sentBody: check === 'changed_body' ? withOneByteChanged(body) : body,
    at: new Date(now.getTime() - (check === 'old_timestamp' ? TOO_OLD_MS : 0)),
    isForged: check === 'forged_signature',
  }
}
