import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { auditName } from '../../../core/audit/decisions/audit-name.ts'
import type { RouteDependencies } from '../../../core/http/dependencies.ts'
import { ApiError, invalidPayload, unknownLead } from '../../../core/http/errors.ts'
import { answerOnce, keyedOperation } from '../../../core/idempotency/routes/idempotency-key.ts'
import { leadId as ofOwnLead, oneOf, timestamp } from '../../../core/http/fields.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { ofLead, success } from '../../../core/http/response-fields.ts'
import { closeReason, leadErrors, strictBody } from '../../../core/http/schemas.ts'
import { closeReasonNames, closeReasons } from '../../../core/leads/decisions/reasons.ts'
import { formatTimestamp } from '../../../core/values/timestamps.ts'
import { CLOSING_DELAY_HOURS } from '../decisions/closing.ts'
import type { Sql } from '../../../core/database/orm.ts'
import type { Keep } from '../../../core/idempotency/statements/answers.ts'
import { cancelOwnClosing, requestClosing, type Waiting } from '../statements/requests.ts'

export interface ClosingDependencies {
  /** Starts what closes a lead on its day, without waiting; if that fails, the sweep does. */
  startClosing: (leadId: number) => void
}

type Options = Pick<RouteDependencies, 'sql' | 'environment'> & ClosingDependencies

const isClosed = () =>
  new ApiError('LEAD_CLOSED', 'The lead is closed, which is final: get-lead shows when, and why.')

const REASONS = `must be one of ${closeReasonNames.join(', ')}`

const noReason = () =>
  invalidPayload(`Invalid request: reason ${REASONS}; to cancel a closing, send "cancel": true instead.`, [
    { field: 'reason', problem: REASONS },
  ])

const notBoth = () =>
  invalidPayload('Invalid request: send either reason, or "cancel": true to cancel a closing.', [
    { field: 'reason', problem: 'must not be sent with cancel' },
  ])

const meanings = Object.entries(closeReasons)
  .map(([name, meaning]) => `\`${name}\`: ${meaning}.`)
  .join(' ')

const body = strictBody(
  {
    lead_id: ofOwnLead,
    reason: z
      .enum(closeReasonNames, { error: oneOf(closeReasonNames) })
      .nullish()
      .describe(`Why; required unless you cancel. ${meanings}`),
    cancel: z
      .boolean({ error: 'must be true or false' })
      .nullish()
      .describe('`true` cancels a closing that waits.'),
  },
  'lead_id is required',
)

const closing = z
  .object({
    lead_id: ofLead,
    reason: closeReason.nullable().describe('Of the request that counts; `null` if none waits.'),
    requested_at: timestamp.nullable().describe('`null` if none waits.'),
    closes_at: timestamp
      .nullable()
      .describe(
        'When the lead is closed; later if the email about it goes out late. `null` if no closing waits any more.',
      ),
  })
  .meta({ id: 'Closing' })

const schema = operation({
  operationId: 'closeLead',
  client: {
    call: 'leads.close',
    positional: ['lead_id', 'reason'],
    result: 'closing',
    prints: ['closes_at'],
  },
  tags: ['Leads'],
  summary: 'Close a lead',
  description: `Requests that a lead is closed, for example because the borrower withdrew. In production, it is closed ${CLOSING_DELAY_HOURS} hours later, and your contact is told by email; it waits until that email was sent. Until then the journey goes on: milestones are recorded and webhooks are sent. The same call with \`"cancel": true\` cancels it, as our staff can. In the sandbox, the lead is closed within a second. A closed lead stays closed: no more milestones are recorded, no more score updates are made, and open webhooks are still sent. get-lead has \`closing\` from the request on. A repeat changes nothing, and returns the first request.`,
  ...keyedOperation,
  body,
  bodyExamples: {
    'the borrower withdrew': { lead_id: 1042, reason: 'withdrew' },
    cancel: { lead_id: 1042, cancel: true },
  },
  response: z.object({
    success,
    data: closing,
  }),
  responseDescription: 'The closing is requested, or canceled.',
  responseExamples: {
    requested: {
      success: true,
      data: {
        lead_id: 1042,
        reason: 'withdrew',
        requested_at: '2026-03-09 10:30:00',
        closes_at: '2026-03-10 10:30:00',
      },
    },
    canceled: { success: true, data: { lead_id: 1042, reason: null, requested_at: null, closes_at: null } },
  },
  errors: [...leadErrors, noReason(), isClosed(), new ApiError('IDEMPOTENCY_CONFLICT')],
})

/** POST /close-lead (extension): closes a lead, in production after a day. */
export const closeLead: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, environment, startClosing } = options
  app.post('/close-lead', {
    schema,
    handler: async (request, reply) => {
      const { lead_id: leadId } = request.body
      request.leadId = leadId
      if (request.body.cancel === true && request.body.reason) throw notBoth()
      const { kind, answer } = await answerOnce<Answer>(sql, 'close-lead', [request, reply], (its, keep) =>
        request.body.cancel === true ? cancel(its, request, keep) : ask(its, request, keep),
      )
      // of one that is canceled, the workflow would find out on its day anyway
      if (kind === 'made') startClosing(leadId)
      return { success: true as const, data: answer }
    },
  })

  async function ask(
    its: Sql,
    { partnerId, keyId, body: asked }: Asked,
    keep: Keep<Answer>,
  ): Promise<Answer> {
    const { lead_id: leadId, reason } = asked
    if (!reason) throw noReason()
    const delayHours = environment === 'sandbox' ? 0 : CLOSING_DELAY_HOURS
    const wanted = { partnerId, leadId, reason, requestedBy: auditName(keyId), delayHours }
    const requested = await requestClosing(its, wanted, (waiting) => keep(toWire(leadId, waiting)))
    if (requested.kind === 'unknown') throw unknownLead()
    if (requested.kind === 'closed') throw isClosed()
    return toWire(leadId, requested)
  }

  async function cancel(
    its: Sql,
    { partnerId, keyId, body: asked }: Asked,
    keep: Keep<Answer>,
  ): Promise<Answer> {
    const { lead_id: leadId } = asked
    const answer = { lead_id: leadId, reason: null, requested_at: null, closes_at: null }
    const own = { partnerId, leadId, canceledBy: auditName(keyId) }
    const canceled = await cancelOwnClosing(its, own, () => keep(answer))
    if (canceled.kind === 'unknown') throw unknownLead()
    if (canceled.kind === 'closed') throw isClosed()
    return answer
  }
}

type Asked = Pick<FastifyRequest, 'partnerId' | 'keyId'> & { body: z.infer<typeof body> }
type Answer = z.infer<typeof closing>

const toWire = (leadId: number, { reason, requestedAt, dueAt }: Waiting): Answer => ({
  lead_id: leadId,
  reason,
  requested_at: formatTimestamp(requestedAt),
  closes_at: formatTimestamp(dueAt),
})
