import { randomInt } from 'node:crypto'
import type { AttemptOutcome } from '../../../../core/deliveries/decisions/attempt-outcome.ts'
import { clockAdvice } from '../../../../core/deliveries/webhooks/diagnosis.ts'
import {
  certificationChecks,
  type CheckReport,
  judgeCheck,
  notSent,
} from '../../../../capabilities/self-service/decisions/certification.ts'
import { certificationCall } from '../../../../capabilities/self-service/webhooks/certification-call.ts'
import { newSecret } from '../progress.ts'
import { send, signedHeaders } from '../send.ts'

interface Receiver {
  url: string
  secret: string
  signal: AbortSignal
}

const ENVIRONMENT = 'sandbox'
/** Makes all checks, one after the other. Without an answer, those after it would say nothing. */
export async function runChecks(
  { url, secret, signal }: Receiver,
  onReport: (report: CheckReport) => void,
): Promise<void> {
  const facts = {
    certificationId: randomInt(1, 2 ** 31),
    partnerId: 1,
    environment: ENVIRONMENT,
    requestedAt: new Date(),
  } as const
  let valid: CheckReport['result'] | undefined
  for (const check of certificationChecks) {
    const call = certificationCall(check, { ...facts, now: new Date() })
    const { sentBody, isForged, ...signed } = call
    const headers = await signedHeaders({ ...signed, secrets: [isForged ? newSecret() : secret] })
    const outcome = await sendOnce({ url, headers, body: sentBody }, signal)
    const report = judgeCheck(check, outcome, { valid, clock: clockOf(outcome) })
    valid ??= report.result
    onReport(report)
    if (outcome.status !== null) continue
    notSent(check).forEach(onReport)
    return
  }
}

/** Ends at once when the command is to end. */
async function sendOnce(request: Parameters<typeof send>[0], signal: AbortSignal): Promise<AttemptOutcome> {
  const outcome = await send(request, signal)
  signal.throwIfAborted()
  return outcome
}

const clockOf = ({ responseHeaders }: AttemptOutcome) => clockAdvice(responseHeaders?.date, Date.now())
