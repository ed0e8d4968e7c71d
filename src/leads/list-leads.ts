import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { sql as raw } from 'kysely'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import { leadCursor } from '../http/cursors.ts'
import { invalidRequest } from '../http/errors.ts'
import { flag, id, oneOf, optionalRules, timestamp } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import {
  leadStatus,
  ofLead,
  pageLimit,
  strictBody,
  success,
  whatClosed,
  yourLeadId,
} from '../http/schemas.ts'
import { formatTimestamp } from '../values.ts'
import { leadClosedAt } from './lead.ts'
import { statuses } from './milestones.ts'

/** Whether a lead's webhooks go out: `failing` while the first open one fails, `held` while the endpoint is paused. */
const waiting = ['failing', 'held'] as const
const leadDeliveries = ['ok', ...waiting] as const

const leadSummary = z
  .object({
    lead_id: ofLead,
    partner_lead_id: yourLeadId,
    status: leadStatus,
    closed: z.boolean().describe('Whether the lead is closed: no more milestones are recorded.'),
    closed_at: timestamp
      .nullable()
      .describe(`When the lead was closed: ${whatClosed} \`null\` while the lead is open.`),
    delivery: z
      .enum(leadDeliveries)
      .describe(
        'Whether its webhooks are sent: `failing` if the first open one fails, `held` while your endpoint is paused.',
      ),
    open_deliveries: z.int().describe('How many of its webhooks are pending or held.'),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'LeadSummary', description: 'A lead without personal data.' })

const body = strictBody({
  limit: pageLimit,
  after: leadCursor
    .nullish()
    .describe('The `next` of the previous response: only older leads. `null` is the first page.'),
  status: z
    .enum(statuses, { error: oneOf(statuses) })
    .optional()
    .describe('Only leads with this status.'),
  partner_lead_id: optionalRules.partner_lead_id.rule
    .optional()
    .describe('Only leads with this identifier of yours.'),
  partner_lead_id_prefix: optionalRules.partner_lead_id.rule
    .optional()
    .describe('Only leads whose identifier of yours begins with this.'),
  closed: flag.optional().describe('`true`: only closed leads. `false`: only open ones.'),
  delivery: z
    .enum(waiting, { error: oneOf(waiting) })
    .optional()
    .describe('Only leads whose webhooks fail, or are held because your endpoint is paused.'),
}).describe('All fields are optional.')

const schema = operation({
  operationId: 'listLeads',
  tags: ['Leads'],
  summary: 'List your leads',
  description:
    'Returns your leads, newest first, without personal data: get-lead returns that. Send `next` as `after` to get older ones.',
  body,
  bodyExamples: {
    newest: {},
    'failing webhooks': { delivery: 'failing', limit: 20 },
    'open leads': { closed: false },
  },
  response: z.object({
    success,
    data: z.array(leadSummary).describe('Newest first.'),
    next: id.nullable().describe('The next page’s `after`; `null` on the last page.'),
  }),
  responseDescription: 'A page of leads.',
  responseExamples: {
    page: {
      success: true,
      data: [
        {
          lead_id: 1042,
          partner_lead_id: 'LOAN-2026-118',
          status: 'contract_signed',
          closed: false,
          closed_at: null,
          delivery: 'failing',
          open_deliveries: 2,
          created_at: '2026-03-02 15:04:05',
          updated_at: '2026-03-09 10:30:00',
        },
      ],
      next: null,
    },
  },
  errors: [invalidRequest({ field: 'limit', problem: 'must be at most 100' })],
})

/** POST /list-leads (extension): a partner's leads, without names. */
export const listLeads: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/list-leads', {
    schema,
    handler: async (request) => {
      const { limit, ...filter } = request.body
      const found = await leadPage(sql, request.partnerId, { ...filter, limit: limit + 1 })
      const page = found.slice(0, limit).map((row) => ({
        ...row,
        closed_at: row.closed_at && formatTimestamp(row.closed_at),
        created_at: formatTimestamp(row.created_at),
        updated_at: formatTimestamp(row.updated_at),
      }))
      const next = found.length > limit ? (page.at(-1)?.lead_id ?? null) : null
      return { success: true as const, data: page, next }
    },
  })
}

/** A partner's leads by the fields of a request, newest first, without personal data. */
export async function leadPage(sql: Sql, partnerId: number, filter: z.output<typeof body>) {
  const { after, status, partner_lead_id, partner_lead_id_prefix: prefix, delivery, closed, limit } = filter
  let leads = sql
    .selectFrom('leads')
    .innerJoin('endpoints', 'endpoints.partner_id', 'leads.partner_id')
    .select(['leads.id as lead_id', 'partner_lead_id', 'leads.status', 'leads.created_at', 'updated_at'])
    .select([raw<boolean>`closed_at is not null`.as('closed'), leadClosedAt.as('closed_at')])
    .select([openWebhooks.as('open_deliveries'), deliveryOf.as('delivery')])
    .where('leads.partner_id', '=', partnerId)
    .where('leads.erased_at', 'is', null)
  if (typeof after === 'number') leads = leads.where('leads.id', '<', after)
  if (status !== undefined) leads = leads.where('leads.status', '=', status)
  if (partner_lead_id !== undefined) leads = leads.where('partner_lead_id', '=', partner_lead_id)
  if (prefix !== undefined) leads = leads.where(beginsWith(prefix))
  if (closed !== undefined) leads = leads.where('closed_at', closed ? 'is not' : 'is', null)
  if (delivery !== undefined)
    leads = leads
      .where('leads.id', 'in', waitingOf(sql, partnerId, delivery === 'failing'))
      .where(raw<boolean>`(endpoints.state = 'paused') = ${delivery === 'held'}`)
  return leads.orderBy('leads.id', 'desc').limit(limit).execute()
}

/** Sorts after every other character: text that begins with a prefix comes before the prefix with this appended. */
const LAST_CHARACTER = '\u{10FFFF}'

/** Compares byte by byte, as the index does. `like` uses the index only if the planner knows the prefix. */
const beginsWith = (prefix: string) =>
  raw<boolean>`partner_lead_id ~>=~ ${prefix} and partner_lead_id ~<~ ${prefix + LAST_CHARACTER}`

const openWebhooks = raw<number>`(
  select count(*)::int from deliveries where deliveries.lead_id = leads.id and state = 'pending'
)`

const deliveryOf = raw<(typeof leadDeliveries)[number]>`(
  select case
    when count(*) = 0 then 'ok'
    when endpoints.state = 'paused' then 'held'
    when max(deliveries.round) = endpoints.round then 'failing'
    else 'ok'
  end
  from deliveries where deliveries.lead_id = leads.id and deliveries.state = 'pending'
)`

/** Leads with open webhooks, found by the partner's few open deliveries instead of by all of its leads. */
function waitingOf(sql: Sql, partnerId: number, onlyFailing: boolean) {
  return sql
    .selectFrom('deliveries')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .select('lead_id')
    .where('deliveries.partner_id', '=', partnerId)
    .where('deliveries.state', '=', 'pending')
    .$if(onlyFailing, (query) => query.whereRef('deliveries.round', '=', 'endpoints.round'))
}
