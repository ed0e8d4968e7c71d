import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { compiledOnce } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { unknownLead } from '../http/errors.ts'
import { id, optionalRules, timestamp } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import {
  closeReason,
  leadBody,
  leadErrors,
  leadStatus,
  ofLead,
  ofPartner,
  success,
  whatClosed,
} from '../http/schemas.ts'
import { formatTimestamp } from '../values.ts'
import { leadClosedAt, openBorrower } from './lead.ts'
import { eachField, requiredFields, changeableFields } from './lead-fields.ts'

const requiredMeanings = {
  first_name: 'Borrower’s first name.',
  last_name: 'Borrower’s last name.',
  email: 'Borrower’s email address.',
  phone: 'Borrower’s phone number, as you sent it.',
}

/** Always a string. To TypeScript, an index signature must also cover the named fields. */
const metadataField = z.custom<string | number | undefined>().meta({ type: 'string' })

const lead = z
  .object({
    id: ofLead,
    lead_id: id.describe('The same as `id`.'),
    partner_id: ofPartner,
    ...eachField(requiredFields, (name) => z.string().describe(requiredMeanings[name])),
    status: leadStatus,
    ...eachField(changeableFields, (name) => z.string().optional().describe(optionalRules[name].meaning)),
    created_at: timestamp,
    updated_at: timestamp,
    loan_product: z.string().optional().describe('Type of loan product, as you sent it.'),
    property_state: z.string().optional().describe('Two-letter state code of the property.'),
  })
  .catchall(metadataField)
  .meta({
    id: 'Lead',
    description: 'The lead’s own fields, and its metadata beside them. Metadata values are strings.',
  })

const closing = z
  .object({
    at: timestamp.describe(`When the lead was closed: ${whatClosed}`),
    reason: closeReason,
  })
  .meta({
    id: 'LeadClosing',
    description: 'Present if the lead is closed.',
  })

const schema = operation({
  operationId: 'getLead',
  tags: ['Leads'],
  summary: 'Get a lead’s current state',
  description:
    'Returns a lead with its metadata. Optional fields without a value are left out. A lead that was closed has `closing` beside its data.',
  body: leadBody,
  bodyExamples: { lead: { lead_id: 1042 } },
  response: z.object({ success, data: lead, closing: closing.optional() }),
  responseDescription: 'The lead.',
  responseExamples: {
    lead: {
      success: true,
      data: {
        loan_product: 'FHA',
        property_state: 'TX',
        branch: 'Austin South',
        id: 1042,
        lead_id: 1042,
        partner_id: 7,
        partner_lead_id: 'LOAN-2026-118',
        first_name: 'Ada',
        last_name: 'Miller',
        email: 'ada.miller@example.com',
        phone: '+1 555-010-0100',
        status: 'contract_signed',
        fico_range: '550-579',
        loan_officer_id: 'LO-7',
        created_at: '2026-03-02 15:04:05',
        updated_at: '2026-03-09 10:30:00',
      },
    },
  },
  errors: leadErrors,
})

type Options = Pick<RouteDependencies, 'sql' | 'encryptionKeys'>

/** POST /get-lead: interface specification, section 4.2. */
export const getLead: FastifyPluginAsyncZod<Options> = async (app, options) => {
  app.post('/get-lead', {
    schema,
    handler: async (request) => {
      request.leadId = request.body.lead_id
      const found = await findLead(options, request.partnerId, request.leadId)
      if (found === undefined) throw unknownLead()
      return { success: true as const, data: toWire(found), closing: closingOf(found) }
    },
  })
}

const selectLead = compiledOnce<{ leadId: number; partnerId: number }>()((sql, value) =>
  sql
    .selectFrom('leads')
    .select(['id', 'partner_id', ...changeableFields, 'personal', 'status'])
    .select(['created_at', 'updated_at', leadClosedAt.as('closed_at'), 'close_reason'])
    .where('id', '=', value('leadId'))
    .where('partner_id', '=', value('partnerId'))
    .where('erased_at', 'is', null),
)

/**
 * A lead of this partner; `undefined` for another partner's lead and an erased one, as for one that doesn't exist.
 *
 * @throws {SealError}
 */
export async function findLead({ sql, encryptionKeys }: Options, partnerId: number, leadId: number) {
  const [row] = await selectLead(sql, { leadId, partnerId })
  // only an erased lead has no borrower
  if (row === undefined || row.personal === null) return undefined
  return { ...row, ...openBorrower(leadId, row.personal, encryptionKeys) }
}

type LeadRow = NonNullable<Awaited<ReturnType<typeof findLead>>>

function closingOf({ closed_at: closedAt, close_reason: why }: LeadRow) {
  return closedAt === null || why === null ? undefined : { at: formatTimestamp(closedAt), reason: why }
}

/** JSON leaves out what is `undefined`. Metadata under a name of a lead's own field shows only where that has no value. */
function toWire({ metadata, ...row }: LeadRow) {
  return {
    ...metadata,
    id: row.id,
    partner_id: row.partner_id,
    ...eachField(requiredFields, (name) => row[name]),
    ...eachField(changeableFields, (name) => row[name] ?? metadata[name]),
    status: row.status,
    created_at: formatTimestamp(row.created_at),
    updated_at: formatTimestamp(row.updated_at),
    lead_id: row.id,
  }
}
