import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import { unknownLead } from '../http/errors.ts'
import { ownLeadId, timestamp } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { leadErrors, leadStatus, ofLead, strictBody, success } from '../http/schemas.ts'
import { ownsLead } from '../leads/lead.ts'
import { formatTimestamp } from '../values.ts'
import type { Clocks } from './advance-clock.ts'
import { dueDates, type LeadClock } from './lead-clock.ts'
import { readLeadClock } from './lead-time.ts'

/** A moment of a lead's time, as it is shown. */
export const leadTime = (ms: number) => formatTimestamp(new Date(ms))

export const dueView = z
  .object({
    what: z
      .enum(['score_update', 'retry', 'end'])
      .describe('`retry`: of the first open webhook. `end`: the lead is closed.'),
    at: timestamp,
  })
  .meta({ id: 'Due' })
  .nullable()
  .describe('What is due next on the lead’s clock; `null` for nothing.')

export function dueOf(clock: LeadClock): z.output<typeof dueView> {
  const [due] = dueDates(clock)
  return due === undefined ? null : { what: due.what, at: leadTime(due.at) }
}

const schema = operation({
  operationId: 'getClock',
  tags: ['Sandbox'],
  summary: 'Get a lead’s clock',
  description: 'Returns the time on a lead’s clock, whether it is moving, and what is due next.',
  body: strictBody({ lead_id: ownLeadId }, 'lead_id is required'),
  bodyExamples: { lead: { lead_id: 1042 } },
  response: z.object({
    success,
    data: z
      .object({
        lead_id: ofLead,
        now: timestamp.describe('The lead’s time.'),
        offset_seconds: z.int().describe('How far the clock was advanced; 0 if it never was.'),
        moving: z.boolean().describe('Whether advance-clock or a scenario moves it right now.'),
        status: leadStatus,
        next: dueView,
      })
      .meta({ id: 'Clock' }),
  }),
  responseDescription: 'The clock.',
  responseExamples: {
    advanced: {
      success: true,
      data: {
        lead_id: 1042,
        now: '2026-04-23 10:30:01',
        offset_seconds: 3_888_000,
        moving: false,
        status: 'score_update',
        next: { what: 'score_update', at: '2026-06-07 10:30:00' },
      },
    },
  },
  errors: leadErrors,
})

/** POST /sandbox/get-clock: where a lead's clock is. */
export const getClock: FastifyPluginAsyncZod<{ sql: Sql; clocks: Clocks }> = async (app, { sql, clocks }) => {
  app.post('/sandbox/get-clock', {
    schema,
    handler: async (request) => {
      const { lead_id: lead } = request.body
      request.leadId = lead
      if (!(await ownsLead(sql, request.partnerId, lead))) throw unknownLead()
      const moving = await clocks.isMoving(lead)
      const clock = await readLeadClock(sql, lead)
      if (clock === undefined) throw unknownLead()
      const { now, offsetSeconds, status } = clock
      const data = { lead_id: lead, now: leadTime(now), offset_seconds: offsetSeconds, moving, status }
      return { success: true as const, data: { ...data, next: dueOf(clock) } }
    },
  })
}
