import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { auditName } from '../../../core/audit/decisions/audit-name.ts'
import type { RouteDependencies } from '../../../core/http/dependencies.ts'
import { invalidRequest, retryLater } from '../../../core/http/errors.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { showLimit } from '../../../core/http/rate-limit-headers.ts'
import { message, success } from '../../../core/http/response-fields.ts'
import { strictBody } from '../../../core/http/schemas.ts'
import type { Clear } from '../../../core/partners/statements/clear.ts'
import { MOST_RESETS_A_DAY } from '../decisions/reset.ts'
import { requestReset } from '../statements/resets.ts'
import { exampleReset, resetToWire, resetView } from './reset-view.ts'

export interface ResetDependencies {
  /** Starts what erases a partner's leads, without waiting; if that fails, the sweep does. */
  startReset: (partnerId: number) => void
}

export interface ResetRouteDependencies extends RouteDependencies, ResetDependencies {
  /** What a partner has beside its leads. */
  cleared: readonly Clear[]
}

type Options = Pick<ResetRouteDependencies, 'sql' | 'startReset' | 'cleared'>

const CONFIRMATION = 'reset'
const CONFIRM = `must be "${CONFIRMATION}": it confirms that all your leads are erased, and your endpoint is removed`

const MESSAGE =
  'Your endpoint, your sink, your limits and your Idempotency-Keys are cleared, and your leads are being erased. get-reset says when that is done.'

const tooManyResets = (retryAfterSeconds = 3600) =>
  retryLater(
    'RATE_LIMITED',
    `At most ${MOST_RESETS_A_DAY} resets are possible within 24 hours.`,
    retryAfterSeconds,
  )

const schema = operation({
  operationId: 'resetSandbox',
  client: { call: 'sandbox.reset', result: 'reset', prints: ['state', 'leads'] },
  tags: ['Sandbox'],
  summary: 'Begin again',
  description: `Erases all your leads, as erase-lead does, and clears the rest that you have in the sandbox: your endpoint and its secrets, your sink, what counts against your limits on erasures and closings, and your Idempotency-Keys. Your API keys stay. The response comes at once: by then all but the leads is cleared, and what you create from then on is new and stays. The leads are erased within seconds; get-reset says when. Scenarios and advances of clocks end with their leads, and no webhook about these leads is sent once it is done. A repeat while leads are being erased changes nothing. At most ${MOST_RESETS_A_DAY} resets are possible within 24 hours.`,
  body: strictBody(
    { confirm: z.enum([CONFIRMATION], { error: CONFIRM }).describe('Confirms it.') },
    `confirm ${CONFIRM}`,
  ),
  bodyExamples: { confirmed: { confirm: CONFIRMATION } },
  response: z.object({ success, message, data: resetView }),
  responseDescription: 'The leads are being erased; all else is cleared.',
  responseExamples: { running: { success: true, message: MESSAGE, data: exampleReset } },
  errors: [invalidRequest({ field: 'confirm', problem: CONFIRM }), tooManyResets()],
})

/** POST /sandbox/reset-sandbox: a partner begins again. */
export const resetSandbox: FastifyPluginAsyncZod<Options> = async (app, { sql, startReset, cleared }) => {
  app.post('/sandbox/reset-sandbox', {
    schema,
    handler: async ({ partnerId, keyId }, reply) => {
      const requested = await requestReset(sql, { partnerId, requestedBy: auditName(keyId) }, cleared)
      if (requested.quota !== undefined) showLimit(reply, 'resets', requested.quota)
      if (requested.kind === 'too_many') throw tooManyResets(requested.quota.moreInSeconds)
      startReset(partnerId)
      return { success: true as const, message: MESSAGE, data: resetToWire(requested.reset) }
    },
  })
}
