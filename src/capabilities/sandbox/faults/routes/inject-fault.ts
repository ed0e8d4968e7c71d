import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { Sql } from '../../../../core/database/orm.ts'
import { invalidRequest } from '../../../../core/http/errors.ts'
import { integer, oneOf } from '../../../../core/http/fields.ts'
import { operation } from '../../../../core/http/openapi/operation.ts'
import { CACHE_MS } from '../../../../core/http/plugins/authentication.ts'
import { messageResponse, strictBody } from '../../../../core/http/schemas.ts'
import { keyedCalls } from '../../../../core/idempotency/decisions/idempotency-key.ts'
import { formatTimestamp } from '../../../../core/values/timestamps.ts'
import { callFaults, faultNames, type FaultName, otherFaults, retryingFaults } from '../decisions/fault.ts'
import { injectFault as inject } from '../statements/faults.ts'

const everyFault: Record<FaultName, string> = { ...callFaults, ...otherFaults }
const meanings = Object.entries(everyFault).map(([name, meaning]) => `\`${name}\`: ${meaning}.`)

const body = strictBody(
  {
    fault: z.enum(faultNames, { error: oneOf(faultNames) }).describe(meanings.join(' ')),
    call: z
      .string('must be the name of a call, such as create-lead')
      .optional()
      .describe(
        'The call that it happens to: its path after `/v1/`, such as `create-lead`. Required, but for `no_scores`.',
      ),
    times: integer(1, 1000).default(1).describe('How often it happens; once by default.'),
    retry_after: integer(1, 60)
      .optional()
      .describe('With `rate_limited` and `unavailable`: the seconds in `Retry-After`; 1 by default.'),
  },
  'fault is required',
).superRefine(({ fault, call, retry_after: retryAfter }, context) => {
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message })
  const isOfCalls = fault in callFaults
  if (isOfCalls && call === undefined) refuse('call', `is required with ${fault}`)
  if (!isOfCalls && call !== undefined) refuse('call', `must be absent with ${fault}: it happens to no call`)
  if (retryAfter !== undefined && !retryingFaults.includes(fault))
    refuse('retry_after', `must be absent with ${fault}: only ${retryingFaults.join(' and ')} have one`)
})

const schema = operation({
  operationId: 'injectFault',
  client: { call: 'sandbox.injectFault' },
  tags: ['Sandbox'],
  summary: 'Inject a fault',
  description:
    'Has the next calls with this key meet a fault, to see what your system does. Other keys are not affected, nor are requests of the console, get-faults and clear-faults. A fault ends when it has happened as often as you said, after an hour at the latest, or when you call clear-faults. The same fault for the same call again replaces the earlier one. The response comes once the fault is in effect everywhere, which takes a second for a key’s first one.',
  body,
  bodyExamples: {
    'two calls get 503': { fault: 'unavailable', call: 'update-partner-info', times: 2 },
    'a call gets 429': { fault: 'rate_limited', call: 'update-partner-info', retry_after: 2 },
    'a lost answer': { fault: 'answer_lost', call: 'update-partner-info' },
    'a score update is left out': { fault: 'no_scores' },
  },
  response: messageResponse,
  responseDescription: 'The fault is in effect.',
  responseExamples: {
    injected: {
      success: true,
      message: 'unavailable happens to the next 2 calls of update-partner-info, until 2026-03-02 16:04:00.',
    },
  },
  errors: [invalidRequest({ field: 'fault', problem: `must be one of ${faultNames.join(', ')}` })],
})

/** POST /sandbox/inject-fault: what happens to the next calls of a key. */
export const injectFault: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/sandbox/inject-fault', {
    schema,
    handler: async (request) => {
      const { fault, call = '', times, retry_after: retryAfter } = request.body
      if (fault in callFaults) requireCall(fault, call, [...app.callsWithFaults])
      const retrying = retryingFaults.includes(fault) ? (retryAfter ?? 1) : null
      const { isKnown, endsAt } = await inject(
        sql,
        request,
        { fault, call, times, retryAfter: retrying },
        KNOWN_AFTER_MS,
      )
      if (!isKnown) await delay(KNOWN_AFTER_MS)
      const what = call === '' ? 'score update' : 'call'
      const next = times === 1 ? `the next ${what}` : `the next ${times} ${what}s`
      const of = call === '' ? '' : ` of ${call}`
      const message = `${fault} happens to ${next}${of}, until ${formatTimestamp(endsAt)}.`
      return { success: true as const, message }
    },
  })
}

/** By then no process has a key in its cache that had no faults. */
const KNOWN_AFTER_MS = CACHE_MS + 50

function requireCall(fault: FaultName, call: string, calls: readonly string[]): void {
  const possible = fault === 'key_expired' ? calls.filter((name) => isKeyed(name)) : calls
  if (possible.includes(call)) return
  throw invalidRequest({ field: 'call', problem: oneOf(possible)({ input: call }) })
}

const isKeyed = (call: string) => keyedCalls.some((known) => known === call)
