import { createHash } from 'node:crypto'
import type { CheckReport } from '../../src/capabilities/self-service/decisions/certification.ts'
import {
  isTaken,
  judgeRehearsal,
  type RehearsalCheck,
  requestsOf,
} from '../../src/capabilities/self-service/decisions/rehearsal.ts'
import {
  madeUpLead,
  type SentRequest,
} from '../../src/capabilities/self-service/decisions/rehearsal-report.ts'
import {
  endRehearsal,
  plannedChecks,
  rehearsedEndpoint,
  writeRehearsed,
} from '../../src/capabilities/self-service/statements/rehearsals.ts'
import { rehearsalCall, signedBy } from '../../src/capabilities/self-service/webhooks/rehearsal-call.ts'
import type { RehearsalSender } from '../../src/capabilities/self-service/webhooks/rehearsal-sender.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { clockAdvice } from '../../src/core/deliveries/webhooks/diagnosis.ts'
import { generateSecret } from '../../src/core/deliveries/webhooks/secrets.ts'
import { signedHeaders } from '../../src/core/deliveries/webhooks/signature.ts'
import type { Environment } from '../../src/core/values/environment.ts'

interface Dependencies {
  sql: Sql
  environment: Environment
  sendRehearsed: RehearsalSender
  encryptionKeys: readonly Buffer[]
}

/** What an operator sees of a check that is over: no URL, no body. */
export type RehearsedCheck = Pick<CheckReport, 'result' | 'received'> & {
  /** Whether its first request got any response. */
  isAnswered: boolean
}

export function rehearsalActivities({ sql, environment, sendRehearsed, encryptionKeys }: Dependencies) {
  return {
    plannedChecks: async (rehearsalId: number) => plannedChecks(sql, rehearsalId),

    /**
     * Makes one request of a check, and writes down what came of it. Made again after a crash, it repeats the same id and
     * bytes, as a retry of a webhook does.
     *
     * @returns the check if it is over; `'goes on'`; `null` if the endpoint was changed meanwhile.
     */
    async rehearse(
      rehearsalId: number,
      check: RehearsalCheck,
      index: number,
    ): Promise<RehearsedCheck | 'goes on' | null> {
      const endpoint = await rehearsedEndpoint(sql, rehearsalId, encryptionKeys)
      if (endpoint === undefined) return null
      const requests = requestsOf(check)
      const request = requests[index]
      if (request === undefined) throw new Error(`${check} has no request ${index}`)
      const leadId = madeUpLead(rehearsalId, check)
      const eventId = (sequence: number) => `evt_${uuidOf(`${rehearsalId} ${check} ${sequence}`)}`
      const { url, requestedAt } = endpoint
      const { id, body } = rehearsalCall(request, { leadId, environment, requestedAt, eventId })
      const secrets = signedBy(request.signing, endpoint.secrets, generateSecret())
      const headers = {
        ...signedHeaders({ id, body, at: new Date(), secrets }),
        ...(request.isReplay && { 'webhook-replay': 'true' }),
      }
      const outcome = await sendRehearsed({ url, headers, body, sending: request.sending })
      const { ok, status, hint, errorCode, durationMs } = outcome
      const before = endpoint.reports[check]?.requests?.slice(0, index) ?? []
      const sent: SentRequest[] = [...before, { id, ok, status, hint, errorCode, durationMs }]
      if (isTaken(request, outcome) && index + 1 < requests.length) {
        await writeRehearsed(sql, rehearsalId, check, { requests: sent })
        return 'goes on'
      }
      const report = judgeRehearsal(check, sent, clockAdvice(outcome.responseHeaders?.date, Date.now()))
      await writeRehearsed(sql, rehearsalId, check, { ...report, requests: sent })
      return { result: report.result, received: report.received, isAnswered: sent[0]?.status !== null }
    },

    endRehearsal: async (rehearsalId: number): Promise<string> => endRehearsal(sql, rehearsalId),
  }
}

/** A UUID of version 8, which is the same for the same text. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const [first, second, third, fourth, last] = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ]
  return [first, second, third, fourth, last].join('-')
}
