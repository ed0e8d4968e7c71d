import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { RouteDependencies } from '../http/dependencies.ts'
import { retryLater, unknownLead } from '../http/errors.ts'
import { ownLeadId } from '../http/fields.ts'
import { limitInFlight } from '../http/in-flight.ts'
import { operation } from '../http/operation.ts'
import { leadErrors, strictBody, success } from '../http/schemas.ts'
import { exportedLeadSchema, exportOnWire, findExport } from './exported-lead.ts'

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
        about: {
          lead: 'The borrower’s data as the partner sent it, with notes and metadata, and the status.',
        },
        exported_at: '2026-03-10 09:00:00',
        lead: { lead_id: 1042, first_name: 'Ada', last_name: 'Miller', status: 'lead_received' },
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
      return { success: true as const, data: exportOnWire(found) }
    },
  })
}
