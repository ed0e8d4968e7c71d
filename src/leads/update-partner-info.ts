import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { sql as raw } from 'kysely'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { invalidPayload, invalidRequest, unknownLead } from '../http/errors.ts'
import { ownLeadId, optionalRules, text } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { leadErrors, messageResponse } from '../http/schemas.ts'
import { type ChangeableField, changeableFields, eachField, requiredFields } from './lead-fields.ts'
import { leadsChange, ownsLead } from './lead.ts'
import { sealMetadata } from './sealed-lead.ts'

/** The limit of custom fields, without those that the specification names. */
const MAX_CUSTOM_FIELDS = 50
const NAMED_FIELDS = ['loan_product', 'property_state']
/** More than a lead can have: what one request sets and removes. */
const MOST_FIELDS = 200

const IDENTIFIES = 'identifies the borrower and cannot be changed with this call: ask us to correct it'
const OWN = 'is kept by the service and cannot be set: for a value of yours, take another name'

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
const PROTOTYPE = '__proto__'

const NOTHING_SENT = 'Nothing was changed: the request has no field beside lead_id.'

const value = text({ max: 2000, breaks: true }).nullable()

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
      loan_product: value
        .optional()
        .describe('Type of loan product, for example FHA, VA or Conventional; `null` removes it.'),
      property_state: propertyState
        .nullish()
        .describe('Two-letter state code of the property, stored in upper case, trimmed; `null` removes it.'),
      ...eachField(changeableFields, removable),
    },
    'must be a JSON object; lead_id is required',
  )
  .catchall(value)
  .superRefine(refuseNames, { when: ({ value: found }) => typeof found === 'object' && found !== null })
  .meta({
    maxProperties: MOST_FIELDS,
    propertyNames: { minLength: 1, maxLength: 64, not: { enum: [...Object.keys(fixedFields), PROTOTYPE] } },
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
  responseExamples: {
    updated: { success: true, message: 'Lead updated.' },
    'only lead_id': { success: true, message: NOTHING_SENT },
  },
  errors: leadErrors,
})

type Options = Pick<RouteDependencies, 'sql' | 'encryptionKeys'>

/** POST /update-partner-info: interface specification, section 4.4. */
export const updatePartnerInfo: FastifyPluginAsyncZod<Options> = async (app, options) => {
  app.post('/update-partner-info', {
    schema,
    preValidation: async (request) => refuseFirst(request.body),
    handler: async (request) => {
      const { lead_id, ...sent } = request.body
      request.leadId = lead_id
      const outcome = await updateLead(options, request.partnerId, lead_id, toChanges(sent))
      if (outcome === 'unknown') throw unknownLead()
      if (outcome === 'too_many') {
        throw invalidPayload(`A lead can have at most ${MAX_CUSTOM_FIELDS} custom fields.`)
      }
      return { success: true as const, message: saysNothing(sent) ? NOTHING_SENT : 'Lead updated.' }
    },
  })
}

const saysNothing = (sent: object) => Object.values(sent).every((given) => given === undefined)

/** Fields of the lead are its columns, where the empty string counts as absent; all others are metadata. */
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
    const message = faultOf(field)
    if (message !== undefined) context.addIssue({ code: 'custom', path: [field || '""'], message })
  }
}

/** Thousands of fields take long to check; and zod drops a field of that name before any refinement sees it. */
function refuseFirst(sent: unknown): void {
  if (typeof sent !== 'object' || sent === null) return
  if (Object.keys(sent).length > MOST_FIELDS)
    throw invalidRequest({ problem: `the request body must have at most ${MOST_FIELDS} fields` })
  if (Object.hasOwn(sent, PROTOTYPE))
    throw invalidRequest({ field: PROTOTYPE, problem: `${faultOf(PROTOTYPE)}` })
}

/** What is wrong with a field's name, if anything. */
function faultOf(field: string): string | undefined {
  if (field === PROTOTYPE) return 'is not a name that can be stored'
  if (Object.hasOwn(fixedFields, field)) return fixedFields[field]
  if (FIELD_NAME.test(field)) return undefined
  return 'is not a valid name: it must have 1 to 64 printable characters'
}

/** What is not named stays; `null` removes a field. */
export interface LeadChanges {
  fields: Partial<Record<ChangeableField, string | null>>
  metadata: Record<string, string | null>
}

/** Changes a lead's fields and merges its metadata, in one statement: concurrent changes both count. */
export async function updateLead(
  { sql, encryptionKeys }: { sql: Sql; encryptionKeys: readonly Buffer[] },
  partnerId: number,
  leadId: number,
  { fields, metadata }: LeadChanges,
): Promise<'updated' | 'unknown' | 'too_many'> {
  const isEmpty = Object.keys(fields).length + Object.keys(metadata).length === 0
  if (isEmpty) return (await ownsLead(sql, partnerId, leadId)) ? 'updated' : 'unknown'
  const changes = JSON.stringify(sealMetadata(leadId, metadata, encryptionKeys))
  const merged = raw<Record<string, string>>`jsonb_strip_nulls(metadata || ${changes}::jsonb)`
  const fits = raw<boolean>`${MAX_CUSTOM_FIELDS} >= (
    select count(*) from jsonb_object_keys(${merged}) as field where field <> all(${NAMED_FIELDS}))`
  const own = await sql
    .with('own', (cte) =>
      cte
        .selectFrom('leads')
        .select(['id', fits.as('fits')])
        .where('id', '=', leadId)
        .where('partner_id', '=', partnerId)
        .where('erased_at', 'is', null)
        // as concurrent changes leave it
        .forNoKeyUpdate(),
    )
    .with('changed', (cte) =>
      cte
        .updateTable('leads')
        .from('own')
        .set({ ...fields, metadata: merged, updated_at: leadsChange })
        .whereRef('leads.id', '=', 'own.id')
        .where('own.fits', '=', true),
    )
    .selectFrom('own')
    .select('fits')
    .executeTakeFirst()
  if (own === undefined) return 'unknown'
  return own.fits ? 'updated' : 'too_many'
}
