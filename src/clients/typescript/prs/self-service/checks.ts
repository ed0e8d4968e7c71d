import { randomInt, randomUUID } from 'node:crypto'
import type { AttemptOutcome } from '../../../../core/deliveries/decisions/attempt-outcome.ts'
import { clockAdvice } from '../../../../core/deliveries/webhooks/diagnosis.ts'
import {
  certificationChecks,
  type CheckReport,
  judgeCheck,
  notSent,
} from '../../../../capabilities/self-service/decisions/certification.ts'
import {
  isTaken,
  judgeRehearsal,
  notRehearsed,
  type RehearsalCheck,
  rehearsalChecks,
  requestsOf,
} from '../../../../capabilities/self-service/decisions/rehearsal.ts'
import { certificationCall } from '../../../../capabilities/self-service/webhooks/certification-call.ts'
import {
  partsOf,
  rehearsalCall,
  signedBy,
} from '../../../../capabilities/self-service/webhooks/rehearsal-call.ts'
import { pause } from '../../src/transport.ts'
import { newSecret } from '../progress.ts'
import { send, signedHeaders } from '../send.ts'

export type Suite = 'certification' | 'rehearsal'
export type Report = CheckReport<string>
type OnReport = (suite: Suite, report: Report) => void

interface Receiver {
  url: string
  secret: string
  signal: AbortSignal
}

const ENVIRONMENT = 'sandbox'
/** Ids of made-up leads: no lender has as many. */
const MADE_UP_LEADS = [2_000_000_000, 2_147_000_000] as const

/**
 * Makes all checks, one after the other. Without an answer, those after it would say nothing.
 *
 * @param only these checks of the rehearsal, and no certification.
 */
export async function runChecks(
  receiver: Receiver,
  only: readonly RehearsalCheck[] | undefined,
  onReport: OnReport,
): Promise<void> {
  const isAnswered =
    only !== undefined || (await certify(receiver, (report) => onReport('certification', report)))
  let leadId = randomInt(...MADE_UP_LEADS)
  for (const check of only ?? rehearsalChecks) {
    leadId += 1
    onReport('rehearsal', isAnswered ? await rehearse(check, leadId, receiver) : notRehearsed(check))
  }
}

/** @returns whether each request was answered. */
async function certify(
  { url, secret, signal }: Receiver,
  onReport: (report: Report) => void,
): Promise<boolean> {
  const facts = {
    certificationId: randomInt(1, 2 ** 31),
    partnerId: 1,
    environment: ENVIRONMENT,
    requestedAt: new Date(),
  } as const
  let valid: Report['result'] | undefined
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
    return false
  }
  return true
}

async function rehearse(
  check: RehearsalCheck,
  leadId: number,
  { url, secret, signal }: Receiver,
): Promise<CheckReport<RehearsalCheck>> {
  const ids = new Map<number, string>()
  const eventId = (sequence: number) => {
    const id = ids.get(sequence) ?? `evt_${randomUUID()}`
    ids.set(sequence, id)
    return id
  }
  const lead = { leadId, environment: ENVIRONMENT, requestedAt: new Date(), eventId } as const
  const outcomes: AttemptOutcome[] = []
  for (const request of requestsOf(check)) {
    const { id, body } = rehearsalCall(request, lead)
    await pause(request.afterMs, signal)
    const secrets = signedBy(request.signing, [secret], newSecret())
    const headers = {
      ...(await signedHeaders({ id, body, at: new Date(), secrets })),
      ...(request.isReplay && { 'webhook-replay': 'true' }),
    }
    const outcome = await sendOnce({ url, headers, body, sentAs: partsOf(body, request.sending) }, signal)
    outcomes.push(outcome)
    if (!isTaken(request, outcome)) break
  }
  return judgeRehearsal(check, outcomes, clockOf(outcomes.at(-1)))
}

/** Ends at once when the command is to end. */
async function sendOnce(request: Parameters<typeof send>[0], signal: AbortSignal): Promise<AttemptOutcome> {
  const outcome = await send(request, signal)
  signal.throwIfAborted()
  return outcome
}

const clockOf = (outcome: AttemptOutcome | undefined) =>
  clockAdvice(outcome?.responseHeaders?.date, Date.now())
