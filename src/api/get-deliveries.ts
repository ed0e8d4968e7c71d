import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { findDeliveries } from '../db/deliveries/list.ts'
import type { Sql } from '../db/orm.ts'
import { latestAttempts } from '../db/deliveries/attempts.ts'
import { ownsLead } from '../db/leads/queries.ts'
import { formatTimestamp } from '../domain/timestamps.ts'
import { unknownLead } from '../errors.ts'
import { getDeliveriesAnswer, getDeliveriesBody } from './extension-schemas.ts'
import { isStorableId } from './lead-ids.ts'

const PAGE = 50

/** POST /get-deliveries (extension): a partner's webhooks with their attempts, the newest first. */
export const getDeliveries: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/get-deliveries', {
    schema: { body: getDeliveriesBody, response: { 200: getDeliveriesAnswer } },
    handler: async (request) => {
      const { lead_id: leadId, states, cursor, limit = PAGE } = request.body
      const { partnerId } = request
      request.leadId = leadId
      if (leadId !== undefined && !(isStorableId(leadId) && (await ownsLead(sql, partnerId, leadId)))) {
        throw unknownLead()
      }
      const found = await findDeliveries(sql, {
        partnerId,
        ...(leadId !== undefined && { leadId }),
        ...(states !== undefined && { states }),
        before: cursor ?? AFTER_ALL,
        limit: limit + 1,
      })
      const page = found.slice(0, limit)
      const attempts = await latestAttempts(
        sql,
        page.map((row) => row.event_id),
      )
      const data = page.map((row) => toWire(row, attempts.get(row.event_id) ?? []))
      const last = found.length > limit ? page.at(-1) : undefined
      return { success: true as const, data, next_cursor: last?.event_id ?? null }
    },
  })
}

/** Sorts after every event's id. */
const AFTER_ALL = 'evt_g'

type Row = Awaited<ReturnType<typeof findDeliveries>>[number]
type Attempts = NonNullable<ReturnType<Awaited<ReturnType<typeof latestAttempts>>['get']>>

function toWire(row: Row, attempts: Attempts) {
  const { event_id, event_name, lead_id, sequence, state, created_at } = row
  const { next_attempt_at, settled_at, resend_requested_at } = row
  return {
    event_id,
    event_name,
    lead_id,
    sequence,
    state,
    created_at: formatTimestamp(created_at),
    next_attempt_at: state === 'pending' ? formatTimestamp(next_attempt_at) : null,
    settled_at: settled_at === null ? null : formatTimestamp(settled_at),
    resend_requested_at: resend_requested_at === null ? null : formatTimestamp(resend_requested_at),
    attempts: attempts.map(({ number, trigger, started_at, duration_ms, status, error_code, hint }) => ({
      number,
      trigger,
      started_at: formatTimestamp(started_at),
      duration_ms,
      status,
      error_code,
      hint,
    })),
  }
}
