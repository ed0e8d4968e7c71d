import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { ApiError, invalidRequest, retryLater, unavailable, unknownLead } from '../http/errors.ts'
import { integer, ownLeadId, oneOf, timestamp } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { eitherOr, ofLead, strictBody, success } from '../http/schemas.ts'
import { statuses } from '../leads/milestones.ts'
import { ownsLead } from '../leads/read-lead.ts'
import { advanceOf, dueOf, dueView, happenedView, leadTime, stoppedView } from './clock-view.ts'
import type { SandboxRouteDependencies } from './dependencies.ts'
import { clockStops, type ClockTarget, MOST_ADVANCES, MOST_DAYS, MOST_YEARS } from './lead-clock.ts'
import { readLeadClock } from './lead-time.ts'

/**
 * Bounds what a partner has under way at a time, in this process.
 *
 * @returns `too_many` without doing `work`.
 */
export function fewAtATime(most: number) {
  const underWay = new Map<number, number>()
  return async <Result>(partnerId: number, work: () => Promise<Result>): Promise<Result | 'too_many'> => {
    const count = underWay.get(partnerId) ?? 0
    if (count >= most) return 'too_many'
    underWay.set(partnerId, count + 1)
    try {
      return await work()
    } finally {
      const left = (underWay.get(partnerId) ?? 1) - 1
      if (left === 0) underWay.delete(partnerId)
      else underWay.set(partnerId, left)
    }
  }
}

type Options = Pick<SandboxRouteDependencies, 'sql' | 'clocks'>

const body = strictBody(
  {
    lead_id: ownLeadId,
    days: integer(1, MOST_DAYS).optional().describe('How many days. Send either `days` or `to`.'),
    to: z
      .enum(clockStops, { error: oneOf(clockStops) })
      .optional()
      .describe(
        'Instead of `days`: until the next score update, the next retry of a webhook that failed, or the end of the lead, 30 days after mortgage_ready.',
      ),
  },
  'lead_id is required',
).refine(({ days, to }) => (days === undefined) !== (to === undefined), eitherOr('days', 'to'))

/** Its webhooks that wait are tried in real time. */
const clockEnded = () =>
  new ApiError(
    'LEAD_CLOSED',
    'The lead is closed: its clock no longer moves. To have a webhook that waits tried now, call resend-webhook.',
  )

const tooManyClocks = () =>
  retryLater(
    'RATE_LIMITED',
    `Clocks of ${MOST_ADVANCES} of your leads are moving already. Wait until one has stopped: get-clock shows where it is.`,
    1,
  )

const beyond = `a clock can be at most ${MOST_YEARS} years ahead`
const TOO_FAR = { problem: `is too far: ${beyond}`, line: beyond }

const refusals = {
  moving: () => new ApiError('CLOCK_MOVING'),
  too_far: (field: string) => invalidRequest({ field, ...TOO_FAR }),
  unanswered: unavailable,
}

const event = { event_id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e', event_name: 'score_update' } as const

const schema = operation({
  operationId: 'advanceClock',
  tags: ['Sandbox'],
  summary: 'Advance a lead’s clock',
  description: `Moves the clock of one lead forward. Whatever falls due on the way happens in order, each at its own date: score updates, the lead’s end, and the retries of a failing webhook. Other leads are not affected. The response comes when all of it has happened, or after ten seconds with \`status\` \`advancing\`: the rest continues on its own, and get-clock shows where it is. A clock can be at most ${MOST_YEARS} years ahead, and the clocks of ${MOST_ADVANCES} of your leads can move at a time. If nothing of the kind that \`to\` names is due, the clock stays where it is.`,
  body,
  bodyExamples: {
    'a year': { lead_id: 1042, days: 365 },
    'until the next score update': { lead_id: 1042, to: 'next_score_update' },
  },
  response: z.object({
    success,
    data: z
      .object({
        lead_id: ofLead,
        now: timestamp.describe('The lead’s time.'),
        status: z
          .enum([...statuses, 'advancing'])
          .describe('The furthest milestone reached, or `advancing` while the clock is moving.'),
        happened: z
          .array(happenedView)
          .describe(
            'What happened on the way, in the lead’s time; while `advancing`, without the attempts that repeat an earlier one.',
          ),
        stopped: stoppedView,
        next: dueView,
      })
      .meta({ id: 'ClockAdvance' }),
  }),
  responseDescription: 'The clock was advanced.',
  responseExamples: {
    advanced: {
      success: true,
      data: {
        lead_id: 1042,
        now: '2026-04-23 10:30:01',
        status: 'score_update',
        happened: [
          { at: '2026-04-23 10:30:00', what: 'event', ...event, sequence: 4 },
          {
            at: '2026-04-23 10:30:00',
            what: 'webhook',
            ...event,
            sequence: 4,
            attempt: 1,
            status: 200,
            error_code: null,
          },
        ],
        next: { what: 'score_update', at: '2026-06-07 10:30:00' },
      },
    },
  },
  errors: [
    invalidRequest({ field: 'days', problem: `must be at most ${MOST_DAYS}` }),
    unknownLead(),
    clockEnded(),
    new ApiError('CLOCK_MOVING'),
    tooManyClocks(),
  ],
})

/** POST /sandbox/advance-clock: what months bring, now. */
export const advanceClock: FastifyPluginAsyncZod<Options> = async (app, { sql, clocks }) => {
  const within = fewAtATime(MOST_ADVANCES)
  app.post('/sandbox/advance-clock', {
    schema,
    handler: async (request) => {
      const { lead_id: lead, days, to } = request.body
      request.leadId = lead
      if (!(await ownsLead(sql, request.partnerId, lead))) throw unknownLead()
      if ((await readLeadClock(sql, lead))?.isClosed) throw clockEnded()
      const advance = () => clocks.advance(lead, targetOf(days, to))
      const advanced = await within(request.partnerId, advance).catch((err: unknown) => {
        request.log.warn({ err }, 'clock not advanced')
        throw unavailable()
      })
      if (advanced === 'too_many') throw tooManyClocks()
      if (advanced === undefined) throw unknownLead()
      if (!('clock' in advanced)) throw refusals[advanced.kind](to === undefined ? 'days' : 'to')
      const { kind, clock } = advanced
      // erased meanwhile
      if (clock.isClosed && !(await ownsLead(sql, request.partnerId, lead))) throw unknownLead()
      const data = {
        lead_id: lead,
        now: leadTime(clock.now),
        status: kind === 'advancing' ? kind : clock.status,
        ...advanceOf(advanced),
        next: dueOf(clock),
      }
      return { success: true as const, data }
    },
  })
}

const targetOf = (days: number | undefined, to: z.output<typeof body>['to']): ClockTarget =>
  to === undefined ? { days: days ?? 0 } : { to }
