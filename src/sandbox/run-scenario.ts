import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { insertLead, leadIds } from '../leads/new-lead.ts'
import { readLeadClock } from './lead-time.ts'
import { ownsLead } from '../leads/read-lead.ts'
import { eachField, optionalFieldNames } from '../leads/lead-fields.ts'
import { MOST_SCENARIOS, webhooksOf } from './scenarios.ts'
import type { SandboxRouteDependencies } from './dependencies.ts'
import { fewAtATime } from './advance-clock.ts'
import { ApiError, invalidRequest, retryLater, unavailable, unknownLead } from '../http/errors.ts'
import { eventName } from '../leads/event-schema.ts'
import { ownLeadId } from '../http/fields.ts'
import { scenarioName } from './list-scenarios.ts'
import { operation } from '../http/operation.ts'
import { leadStatus, ofLead, strictBody, success } from '../http/schemas.ts'
import { dueOf, dueView, leadClosed } from './clock-view.ts'

type Options = Pick<SandboxRouteDependencies, 'sql' | 'encryptionKeys' | 'webhookBody' | 'scenarios'>

/** A borrower for a lead that a scenario makes: nobody real. */
const BORROWER = {
  ...eachField(optionalFieldNames, () => null),
  first_name: 'Sam',
  last_name: 'Sandbox',
  email: 'sam.sandbox@example.com',
  phone: '555-010-0100',
}

const tooManyScenarios = () =>
  retryLater(
    'RATE_LIMITED',
    `${MOST_SCENARIOS} scenarios of yours are being played. One that create-lead asks for by its address waits for its turn by itself.`,
    5,
  )

const schema = operation({
  operationId: 'runScenario',
  tags: ['Sandbox'],
  summary: 'Play a whole journey',
  description:
    'Plays a scenario with a lead, or with a new one if you name none. Its milestones are recorded and sent as in production, on the lead’s own clock, which moves as far as the scenario takes. `GET /v1/sandbox/scenarios` lists the scenarios and the webhooks of each. The response comes when the scenario is over, or after ten seconds: the rest continues on its own. ' +
    `${MOST_SCENARIOS} of your scenarios can be played at a time.`,
  body: strictBody(
    {
      scenario: scenarioName,
      lead_id: ownLeadId.optional().describe('By default a new lead.'),
    },
    'scenario is required',
  ),
  bodyExamples: { 'a new lead': { scenario: 'mortgage_ready_in_a_year' } },
  response: z.object({
    success,
    data: z
      .object({
        lead_id: ofLead,
        scenario: scenarioName,
        state: z
          .enum(['done', 'running', 'stopped', 'closed'])
          .describe(
            '`running`: it continues on its own. `stopped`: it goes no further, because your endpoint refuses webhooks for so long that production would pause it, because the lead’s clock can run no further ahead, or because the lead has as many events as it can. `closed`: the lead was closed on the way, or our staff ended the scenario.',
          ),
        status: leadStatus,
        webhooks: z
          .array(eventName)
          .optional()
          .describe(
            'The webhooks to expect, in their order. Absent if you named a lead: what it has already does not happen again.',
          ),
        next: dueView,
      })
      .meta({ id: 'ScenarioRun' }),
  }),
  responseDescription: 'The scenario was played, or is being played.',
  responseExamples: {
    done: {
      success: true,
      data: {
        lead_id: 1042,
        scenario: 'ready_after_two_updates',
        state: 'done',
        status: 'mortgage_ready',
        webhooks: webhooksOf('ready_after_two_updates'),
        next: { what: 'end', at: '2026-07-14 10:30:00' },
      },
    },
  },
  errors: [
    invalidRequest({ field: 'scenario', problem: 'is required' }),
    unknownLead(),
    leadClosed(),
    new ApiError('LEAD_FULL'),
    alreadyPlaying(),
    tooManyScenarios(),
  ],
})

/** POST /sandbox/run-scenario: a whole journey in one call. */
export const runScenario: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, encryptionKeys, webhookBody, scenarios } = options
  const within = fewAtATime(MOST_SCENARIOS)
  const takeLeadId = leadIds(sql)

  /** A new lead, which its workflow starts with. */
  async function newLead({ partnerId, id: requestId }: FastifyRequest): Promise<number> {
    await scenarios.requireTemporal()
    const reserved = await takeLeadId()
    await insertLead({ sql, encryptionKeys }, reserved, partnerId, BORROWER, webhookBody, { requestId })
    return reserved.leadId
  }

  /** @throws {ApiError} if a lead that is there cannot play. */
  async function requirePlayable(partnerId: number, lead: number): Promise<void> {
    if (!(await ownsLead(sql, partnerId, lead))) throw unknownLead()
    const clock = await readLeadClock(sql, lead)
    if (clock?.isClosed) throw leadClosed()
    if (clock?.isFull) throw new ApiError('LEAD_FULL')
  }

  app.post('/sandbox/run-scenario', {
    schema,
    handler: async (request) => {
      const { partnerId } = request
      const { scenario, lead_id: named } = request.body
      if (named !== undefined) await requirePlayable(partnerId, named)
      const play = async () => {
        const lead = named ?? (await newLead(request))
        request.leadId = lead
        return { lead, state: await scenarios.run(lead, scenario) }
      }
      const played = await within(partnerId, play).catch((err: unknown) => {
        request.log.warn({ err }, 'scenario not played to its end')
        throw unavailable()
      })
      if (played === 'too_many') throw tooManyScenarios()
      const { lead, state } = played
      if (state === 'moving') throw alreadyPlaying()
      const clock = await readLeadClock(sql, lead)
      if (clock === undefined) throw unknownLead()
      if (clock.isClosed && !(await ownsLead(sql, partnerId, lead))) throw unknownLead()
      const { status } = clock
      const data = {
        lead_id: lead,
        scenario,
        state,
        status,
        ...(named === undefined && { webhooks: webhooksOf(scenario) }),
        next: dueOf(clock),
      }
      return { success: true as const, data }
    },
  })
}

/** Also while it waits for its turn, or between two steps, when get-clock shows a clock that stands still. */
function alreadyPlaying(): ApiError {
  return new ApiError(
    'CLOCK_MOVING',
    'A scenario of this lead is being played or waits for its turn, or its clock is moving. Try again once that is over, or name no lead_id, and play it with a new lead.',
  )
}
