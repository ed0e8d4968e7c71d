import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { RouteDependencies } from '../http/dependencies.ts'
import { retryLater, unknownLead } from '../http/errors.ts'
import { ownLeadId } from '../http/fields.ts'
import { limitInFlight } from '../http/in-flight.ts'
import { operation } from '../http/operation.ts'
import { leadErrors, strictBody, success } from '../http/schemas.ts'
import { exportedLeadSchema, exportedParts, findExport } from './exported-lead.ts'

const RETRY_SECONDS = 5

const oneAtATime = () =>
  retryLater(
    'RATE_LIMITED',
    'Another lead of yours is being exported. Exports are made one at a time.',
    RETRY_SECONDS,
  )

const schema = operation({
  operationId: 'exportLead',
  tags: ['Leads'],
  summary: 'Export all data of a lead',
  description:
    'Returns everything that is kept of a borrower, for example to answer the borrower’s own request. It is of one moment. Exports are made one at a time.',
  body: strictBody({ lead_id: ownLeadId }, 'lead_id is required'),
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
export const exportLead: FastifyPluginAsyncZod<Options> = async (app, { sql, encryptionKeys }) => {
  // an export is held in memory
  const limitExports = limitInFlight(1, oneAtATime)
  app.post('/export-lead', {
    schema,
    handler: async (request, reply) => {
      const { partnerId } = request
      const { lead_id: leadId } = request.body
      request.leadId = leadId
      limitExports(partnerId, reply)
      const found = await findExport({ sql, encryptionKeys, leadId, partnerId })
      if (found === undefined) throw unknownLead()
      return { success: true as const, data: found.document }
    },
  })
}
