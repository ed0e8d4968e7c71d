import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { compiledOnce } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { invalidPayload, invalidRequest, unknownLead } from '../http/errors.ts'
import { ownLeadId, optionalRules, text } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { leadErrors, messageResponse } from '../http/schemas.ts'
import { type ChangeableField, changeableFields, eachField, requiredFields } from './lead-fields.ts'
import { leadUpdatedAt, openBorrower, sealBorrower } from './lead.ts'

/** The limit of custom fields, besides those that the specification names. */
const MAX_CUSTOM_FIELDS = 50
const NAMED_FIELDS = ['loan_product', 'property_state']
/** Fields in one request: more than a lead can have, because a request may also remove some. */
const MOST_FIELDS = 200

const IDENTIFIES = 'identifies the borrower and cannot be changed with this call: ask us to correct it'
const OWN = 'is set by the service only: send your value under another name'

/** Fields that metadata can neither change nor shadow, with what to do instead. */
const fixedFields: Record<string, string> = {
  id: 'cannot be set: lead_id says which lead it is',
  partner_id: OWN,
  ...eachField(requiredFields, () => IDENTIFIES),
  status: OWN,
  metadata: 'cannot be set: send its fields one by one, beside lead_id',
  created_at: OWN,
  updated_at: OWN,
}
/** Letters with their marks, digits, punctuation, symbols and the space: nothing invisible. */
const FIELD_NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}$/u
const INVALID_NAME = 'is not a valid name: it must have 1 to 64 printable characters'

const metadataValue = text({ max: 2000, breaks: true }).nullable()

const propertyState = z
  .string('must be a string')
  .trim()
  .regex(/^[A-Za-z]{2}$/, 'must be a two-letter state code')
  .overwrite((state) => state.toUpperCase())
  .meta({ pattern: '^[A-Za-z]{2}$' })

function removable(field: ChangeableField) {
  const { rule, meaning } = optionalRules[field]
  return rule.nullish().describe(`${meaning} \`null\`, the empty string and blanks remove it.`)
}

const body = z
  .object(
    {
      lead_id: ownLeadId,
      loan_product: metadataValue
        .optional()
        .describe('Type of loan product, for example FHA, VA or Conventional; `null` removes it.'),
      property_state: propertyState
        .nullish()
        .describe('Two-letter state code of the property, stored in upper case, trimmed; `null` removes it.'),
      ...eachField(changeableFields, removable),
    },
    'must be a JSON object; lead_id is required',
  )
  .catchall(metadataValue)
  .superRefine(refuseNames, { when: ({ value: found }) => typeof found === 'object' && found !== null })
  .meta({
    maxProperties: MOST_FIELDS,
    propertyNames: { minLength: 1, maxLength: 64, not: { enum: Object.keys(fixedFields) } },
  })

const listed = new Intl.ListFormat('en-GB').format(changeableFields.map((name) => `\`${name}\``))

const schema = operation({
  operationId: 'updatePartnerInfo',
  tags: ['Leads'],
  summary: 'Change a lead and its metadata',
  description: `Changes one lead, not your account. Fields that you do not send keep their value; \`null\` removes a field. ${listed} change the lead. Any other field is stored as metadata under its own name: 1 to 64 printable characters, up to ${MAX_CUSTOM_FIELDS} custom fields for each lead. Fields that the service owns or that identify the borrower cannot be changed.`,
  body,
  bodyExamples: {
    metadata: { lead_id: 1042, loan_product: 'FHA', property_state: 'TX', branch: 'Austin South' },
    'change the lead': { lead_id: 1042, partner_lead_id: 'LOAN-2026-131', fico_range: '580-619' },
    'remove a field': { lead_id: 1042, branch: null },
  },
  response: messageResponse,
  responseDescription: 'The lead was updated.',
  responseExamples: { updated: { success: true, message: 'Lead updated.' } },
  errors: leadErrors,
})

type Options = Pick<RouteDependencies, 'sql' | 'encryptionKeys'>

/** POST /update-partner-info: interface specification, section 4.4. */
export const updatePartnerInfo: FastifyPluginAsyncZod<Options> = async (app, options) => {
  app.post('/update-partner-info', {
    schema,
    // thousands of fields take long to check
    preValidation: async ({ body: sent }) => {
      if (typeof sent === 'object' && Object.keys(sent ?? {}).length > MOST_FIELDS)
        throw invalidRequest({ problem: `the request body must have at most ${MOST_FIELDS} fields` })
    },
    handler: async (request) => {
      const { lead_id, ...sent } = request.body
      request.leadId = lead_id
      await updateLead(options, request.partnerId, lead_id, toChanges(sent))
      return { success: true as const, message: 'Lead updated.' }
    },
  })
}

/** Splits what was sent into columns of the lead, where the empty string counts as absent, and metadata. */
function toChanges(sent: Record<string, string | null | undefined>): LeadChanges {
  const changes: LeadChanges = { fields: {}, metadata: {} }
  for (const [name, given] of Object.entries(sent)) {
    if (given === undefined) continue
    const field = changeableFields.find((changeable) => changeable === name)
    if (field === undefined) changes.metadata[name] = given
    else changes.fields[field] = given || null
  }
  return changes
}

/** Runs even if other fields are invalid, so that the message names them all. */
function refuseNames({ lead_id: _, ...fields }: object & { lead_id?: unknown }, context: z.RefinementCtx) {
  for (const field of Object.keys(fields)) {
    const fixed = Object.hasOwn(fixedFields, field) ? fixedFields[field] : undefined
    const message = fixed ?? (FIELD_NAME.test(field) ? undefined : INVALID_NAME)
    if (message !== undefined) context.addIssue({ code: 'custom', path: [field || '""'], message })
  }
}

/** Fields that are not named stay; `null` removes a field. */
export interface LeadChanges {
  fields: Partial<Record<ChangeableField, string | null>>
  metadata: Record<string, string | null>
}

/**
 * Changes a lead's fields and merges its metadata. Of two concurrent changes, one is retried, so that both are kept.
 *
 * @throws {ApiError}
 */
export async function updateLead(
  { sql, encryptionKeys }: Options,
  partnerId: number,
  leadId: number,
  { fields, metadata }: LeadChanges,
): Promise<void> {
  const [lead] = await selectPersonal(sql, { leadId, partnerId })
  if (!lead?.personal) throw unknownLead()
  const changesMetadata = Object.keys(metadata).length > 0
  if (!changesMetadata && Object.keys(fields).length === 0) return
  // opened only if needed: a value that cannot be opened must not block other changes
  const sealed = changesMetadata && withMetadata(leadId, lead.personal, metadata, encryptionKeys)
  const { numUpdatedRows } = await sql
    .updateTable('leads')
    .set({ ...fields, ...sealed, updated_at: leadUpdatedAt })
    .where('id', '=', leadId)
    // each sealing differs, so an equal value means that nobody changed the lead meanwhile
    .where('personal', '=', lead.personal)
    .executeTakeFirst()
  if (numUpdatedRows === 0n)
    await updateLead({ sql, encryptionKeys }, partnerId, leadId, { fields, metadata })
}

const selectPersonal = compiledOnce<{ leadId: number; partnerId: number }>()((sql, value) =>
  sql
    .selectFrom('leads')
    .select('personal')
    .where('id', '=', value('leadId'))
    .where('partner_id', '=', value('partnerId'))
    .where('erased_at', 'is', null),
)

function withMetadata(
  leadId: number,
  personal: string,
  changes: LeadChanges['metadata'],
  keys: readonly Buffer[],
) {
  const borrower = openBorrower(leadId, personal, keys)
  const entries = Object.entries({ ...borrower.metadata, ...changes }).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  )
  if (entries.filter(([name]) => !NAMED_FIELDS.includes(name)).length > MAX_CUSTOM_FIELDS)
    throw invalidPayload(`A lead can have at most ${MAX_CUSTOM_FIELDS} custom fields.`)
  return sealBorrower(leadId, { ...borrower, metadata: Object.fromEntries(entries) }, keys)
}
