import type { FastifyRequest } from 'fastify'
import type { Sql } from '../database/sql.ts'
import { unknownLead } from '../http/errors.ts'

/**
 * Requires that a lead is the partner's own, and not erased. The answer for any other is the same, in bytes and in time. The
 * request is then about this lead.
 *
 * @throws {ApiError} NOT_FOUND
 */
export async function requireOwnLead(sql: Sql, request: FastifyRequest, leadId: number): Promise<void> {
  request.leadId = leadId
  const own = await sql
    .selectFrom('leads')
    .select('id')
    .where('id', '=', leadId)
    .where('partner_id', '=', request.partnerId)
    .where('erased_at', 'is', null)
    .executeTakeFirst()
  if (own === undefined) throw unknownLead()
}
