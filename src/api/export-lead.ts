import { Readable } from 'node:stream'
import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { exportedLead } from '../db/export/lead.ts'
import { findWholeLead } from '../db/leads/partner-reads.ts'
import type { Sql } from '../db/orm.ts'
import { exportedParts } from '../domain/exported-lead.ts'
import { jsonPieces } from '../domain/json-pieces.ts'
import { referralId } from '../temporal/names.ts'
import { unknownLead } from './errors.ts'
import { leadId } from './fields.ts'
import { exportedLeadSchema } from './exported-lead.ts'
import { operation } from './openapi/operation.ts'
import type { NoteRead } from './read-log.ts'
import { leadErrors, strictBody } from './schemas.ts'
import { success } from './response-fields.ts'

const schema = operation({
  operationId: 'exportLead',
  tags: ['Leads'],
  summary: 'Export all data of a lead',
  description:
    'Returns everything that is kept of a borrower, for example to answer the borrower’s own request. The response is streamed: it is complete if it is valid JSON. Events, webhooks and reads that are recorded meanwhile may be in it or not.',
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
        onboarding_email: { sent_at: '2026-03-02 15:04:06', due_at: null, not_sent_because: null },
        clock: { seconds_ahead: 0 },
        score_updates: { since: null },
        closing: { closed_at: null, reason: null },
        workflow: { workflow_id: 'lead-1042', started_at: '2026-03-02 15:04:05' },
        idempotency_keys: [],
        events: [
          {
            position: 1,
            event_id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
            event_name: 'lead_received',
            event_payload: { partner_lead_id: 'LOAN-2026-118' },
            created_at: '2026-03-02 15:04:05',
          },
        ],
        deliveries: [],
        reads: [{ at: '2026-03-09 08:00:00', what: 'get-lead', by: 'key 12' }],
        actions: [],
      },
    },
  },
  errors: leadErrors,
})

interface Options {
  sql: Sql
  encryptionKeys: readonly Buffer[]
  noteRead: NoteRead
}

/** POST /export-lead (extension): everything that is kept of a lead. */
export const exportLead: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, noteRead } = options
  app.post('/export-lead', {
    schema,
    handler: async (request, reply) => {
      const { partnerId, keyId } = request
      request.leadId = request.body.lead_id
      const lead = await findWholeLead(options, request.leadId, partnerId)
      if (lead === undefined) throw unknownLead()
      noteRead({ leadId: lead.id, partnerId, keyId, what: 'export-lead' })
      const parts = await exportedLead(sql, lead, { viewer: 'partner', workflowId: referralId(lead.id) })
      reply.type('application/json; charset=utf-8')
      // a stream is sent as it is, so its type says what is in it
      return Readable.from(answerPieces(parts)) as unknown as z.input<(typeof schema)['response'][200]>
    },
  })
}

async function* answerPieces(data: Record<string, unknown>): AsyncGenerator<string> {
  yield '{"success":true,"data":'
  yield* jsonPieces(data)
  yield '}'
}
