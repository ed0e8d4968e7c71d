import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { ownLeadId, timestamp } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { leadErrors, leadStatus, ofLead, strictBody, success } from '../http/schemas.ts'
import { requireOwnLead } from '../partners/own-lead.ts'
import { formatTimestamp } from '../values.ts'
import { type AskingOptions } from './ask-lead.ts'
import { dueDates, type LeadClock } from './lead-clock.ts'
import { clockOf } from './lead-time.ts'

const dueView = z
  .object({
    what: z
      .enum(['score_update', 'retry', 'end'])
      .describe('`retry`: of the first open webhook. `end`: the lead is closed.'),
    at: timestamp,
  })
  .meta({ id: 'Due' })

/** Where a lead stands on its clock: in every response about it. */
export const standing = {
  lead_id: ofLead,
  now: timestamp.describe('The lead’s time.'),
  status: leadStatus,
  next: dueView.nullable().describe('What is due next on the lead’s clock; `null` if nothing is.'),
}

const timeOf = (ms: number) => formatTimestamp(new Date(ms))

export function standingOf(clock: LeadClock) {
  const [due] = dueDates(clock)
  const next = due === undefined ? null : { ...due, at: timeOf(due.at) }
  return { lead_id: clock.leadId, now: timeOf(clock.now), status: clock.status, next }
}

export const exampleStanding = {
  lead_id: 1042,
  now: '2026-04-23 10:30:01',
  status: 'score_update',
  next: { what: 'score_update', at: '2026-06-07 10:30:00' },
} as const

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
        ...standing,
        offset_seconds: z.int().describe('How far the clock was advanced; 0 if it never was.'),
        moving: z.boolean().describe('Whether advance-clock or a scenario moves it right now.'),
      })
      .meta({ id: 'Clock' }),
  }),
  responseDescription: 'The clock.',
  responseExamples: {
    advanced: {
      success: true,
      data: { ...exampleStanding, offset_seconds: 3_888_000, moving: false },
    },
  },
  errors: leadErrors,
})

/** POST /sandbox/get-clock: where a lead's clock is. */
export const getClock: FastifyPluginAsyncZod<AskingOptions> = async (app, { sql, isMoving }) => {
  app.post('/sandbox/get-clock', {
    schema,
    handler: async (request) => {
      const { lead_id: lead } = request.body
      await requireOwnLead(sql, request, lead)
      const moving = await isMoving(lead)
      const clock = await clockOf(sql, lead)
      const data = { ...standingOf(clock), offset_seconds: clock.offset / 1000, moving }
      return { success: true as const, data }
    },
  })
}
