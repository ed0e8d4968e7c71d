import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { exportedLead } from '../statements/exported-lead.ts'
import {
  beginExport,
  endExport,
  EXPORT_LEASE_SECONDS,
  type ExportLease,
  renewExport,
} from '../statements/export-lease.ts'
import { findWholeLead } from '../../../core/leads/statements/partner-reads.ts'
import type { Sql } from '../../../core/database/sql.ts'
import { exportedParts } from '../decisions/exported-lead.ts'
import { jsonPieces } from '../../../core/values/json-pieces.ts'
import { referralId } from '../../../core/temporal/names.ts'
import type { RouteDependencies } from '../../../core/http/dependencies.ts'
import { retryLater, unknownLead } from '../../../core/http/errors.ts'
import { leadId } from '../../../core/http/fields.ts'
import { exportedLeadSchema } from './exported-lead.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { leadErrors, strictBody } from '../../../core/http/schemas.ts'
import { success } from '../../../core/http/response-fields.ts'
import { streamed } from '../../../core/http/streamed.ts'

const RENEW_MS = (EXPORT_LEASE_SECONDS * 1000) / 4
const RETRY_SECONDS = 5

const oneAtATime = () =>
  retryLater(
    'RATE_LIMITED',
    'Another lead of yours is being exported. Exports are made one at a time: read the other one to its end.',
    RETRY_SECONDS,
  )

const schema = operation({
  operationId: 'exportLead',
  tags: ['Leads'],
  summary: 'Export all data of a lead',
  description:
    'Returns everything that is kept of a borrower, for example to answer the borrower’s own request. The response is streamed: it is complete if it is valid JSON. Events and webhooks that are recorded meanwhile may be in it or not. Exports are made one at a time.',
  body: strictBody({ lead_id: leadId }, 'lead_id is required'),
  bodyExamples: { lead: { lead_id: 1042 } },
  response: z.object({ success, data: exportedLeadSchema }),
  responseDescription: 'All data of the lead.',
  responseExamples: {
    lead: {
      success: true,
      data: {
        about: exportedParts,
        exported_at: '2026-03-10 09:00:00',
        lead: {
          lead_id: 1042,
          partner_id: 7,
          first_name: 'Ada',
          last_name: 'Miller',
          email: 'ada.miller@example.com',
          phone: '+1 555-010-0100',
          partner_lead_id: 'LOAN-2026-118',
          fico_range: '550-579',
          loan_officer_id: null,
          notes: 'Two late payments.',
          metadata: { loan_product: 'FHA' },
          status: 'lead_received',
          created_at: '2026-03-02 15:04:05',
          updated_at: '2026-03-02 15:04:05',
        },
        onboarding_email: { sent_at: '2026-03-02 15:04:06', not_sent_because: null },
        clock: { seconds_ahead: 0 },
        score_updates: { since: null },
        closing: { closed_at: null, reason: null },
        workflow: { workflow_id: 'lead-1042', started_at: '2026-03-02 15:04:05' },
        idempotency_keys: [],
        events: [
          {
            event_id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
            sequence: 1,
            event_name: 'lead_received',
            event_payload: { partner_lead_id: 'LOAN-2026-118' },
            created_at: '2026-03-02 15:04:05',
          },
        ],
        deliveries: [],
        actions: [],
      },
    },
  },
  errors: [...leadErrors, oneAtATime()],
})

type Options = Pick<RouteDependencies, 'sql' | 'encryptionKeys'>

/** POST /export-lead (extension): everything that is kept of a lead. */
export const exportLead: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql } = options
  app.post('/export-lead', {
    schema,
    handler: async (request, reply) => {
      const { partnerId } = request
      request.leadId = request.body.lead_id
      const lead = await findWholeLead(options, request.leadId, partnerId)
      if (lead === undefined) throw unknownLead()
      const lease = await beginExport(sql, partnerId)
      if (lease === undefined) throw oneAtATime()
      const end = () =>
        void endExport(sql, lease).catch((err: unknown) => request.log.warn({ err }, 'export not ended'))
      reply.raw.once('close', end)
      // it may have gone before
      if (reply.raw.destroyed) end()
      const parts = await exportedLead(sql, lead, { viewer: 'partner', workflowId: referralId(lead.id) })
      return streamed(reply, leased(sql, lease, answerPieces(parts)))
    },
  })
}

/**
 * Renews the lease while pieces are taken, and ends it before the last one: who has read that may begin another.
 *
 * @throws {Error} if another export has begun since: the reader of this one had stopped.
 */
async function* leased(sql: Sql, lease: ExportLease, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let renewedAt = performance.now()
  let last = ''
  for await (const piece of pieces) {
    if (performance.now() - renewedAt > RENEW_MS) {
      if (!(await renewExport(sql, lease))) throw new Error('the lease of the export has ended')
      renewedAt = performance.now()
    }
    yield last
    last = piece
  }
  await endExport(sql, lease)
  yield last
}

async function* answerPieces(data: Record<string, unknown>): AsyncGenerator<string> {
  yield '{"success":true,"data":'
  yield* jsonPieces(data)
  yield '}'
}
