import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { z } from 'zod'
import { instant } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { retryLater, unknownLead } from '../http/errors.ts'
import { ownLeadId } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { leadErrors, strictBody, success } from '../http/schemas.ts'
import { jsonPieces, streamed } from '../http/streamed.ts'
import { findWholeLead } from '../leads/read-lead.ts'
import { Partner } from '../partners/partner.ts'
import { referralId } from '../temporal/names.ts'
import { exportedLead, exportedLeadSchema, exportedParts } from './exported-lead.ts'

/** The export of a lead that a partner reads, or read last: one at a time for each. */
export const Export = defineEntity({
  name: 'Export',
  tableName: 'exports',
  properties: {
    partner: () => p.oneToOne(Partner).owner().primary().deleteRule('restrict'),
    /** Names the export. */
    lease: p.uuid(),
    /** Until then, no other begins. */
    leasedUntil: instant(),
  },
})

/** How long an export lasts of which no further page is read: its reader is gone, or stands still. */
const EXPORT_LEASE_SECONDS = 60

const fromNow = raw<Date>`clock_timestamp() + ${EXPORT_LEASE_SECONDS} * interval '1 second'`

/** A partner's only export, over all processes. */
export interface ExportLease {
  partnerId: number
  lease: string
}

/** @returns `undefined` while the partner has another one. */
async function beginExport(sql: Sql, partnerId: number): Promise<ExportLease | undefined> {
  const lease = randomUUID()
  const row = await sql
    .insertInto('exports')
    .values({ partner_id: partnerId, lease, leased_until: fromNow })
    .onConflict((conflict) =>
      conflict
        .column('partner_id')
        .doUpdateSet({ lease, leased_until: fromNow })
        .where(raw<boolean>`exports.leased_until <= clock_timestamp()`),
    )
    .returning('lease')
    .executeTakeFirst()
  return row && { partnerId, lease }
}

/** @returns false if another one has begun since. */
async function renewExport(sql: Sql, { partnerId, lease }: ExportLease): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable('exports')
    .set({ leased_until: fromNow })
    .where('partner_id', '=', partnerId)
    .where('lease', '=', lease)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

async function endExport(sql: Sql, { partnerId, lease }: ExportLease): Promise<void> {
  await sql
    .updateTable('exports')
    .set({ leased_until: raw<Date>`clock_timestamp()` })
    .where('partner_id', '=', partnerId)
    .where('lease', '=', lease)
    .execute()
}

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
