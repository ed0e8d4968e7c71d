import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { Client } from '@temporalio/client'
import { z } from 'zod'
import { CLOCK_MOVING, LEAD_CLOSED, runScenarioUpdate } from '../../workflows/messages.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { ApiError, invalidRequest, retryLater, unavailable, unknownLead } from '../http/errors.ts'
import { oneOf, ownLeadId } from '../http/fields.ts'
import { limitInFlight } from '../http/in-flight.ts'
import { operation } from '../http/operation.ts'
import { leadStatus, ofLead, strictBody, success } from '../http/schemas.ts'
import { eventName } from '../leads/event-schema.ts'
import { eachField, optionalFields } from '../leads/lead-fields.ts'
import { insertLead, leadIds } from '../leads/new-lead.ts'
import { ownsLead } from '../leads/lead.ts'
import { type Referrals, refusalOf } from '../leads/referrals.ts'
import { reachTemporal } from '../temporal/client.ts'
import { dueOf, dueView } from './get-clock.ts'
import { readLeadClock } from './lead-time.ts'
import {
  MOST_SCENARIOS,
  type ScenarioEnd,
  type ScenarioName,
  scenarioNames,
  scenarios,
  webhooksOf,
} from './scenarios.ts'

const scenarioName = z.enum(scenarioNames, { error: oneOf(scenarioNames) }).meta({ id: 'ScenarioName' })

const all = scenarioNames.map((name) => ({
  scenario: name,
  about: scenarios[name].about,
  email: `you+${name}@example.com`,
  webhooks: webhooksOf(name),
}))

const listSchema = operation({
  operationId: 'listScenarios',
  tags: ['Sandbox'],
  summary: 'List the scenarios',
  description:
    'Returns the journeys that run-scenario plays, each with the webhooks to expect, in their order.',
  response: z.object({
    success,
    data: z.array(
      z
        .object({
          scenario: scenarioName,
          about: z.string().describe('For people.'),
          email: z
            .string()
            .describe('A create-lead with such an address plays the scenario, without any other call.'),
          webhooks: z.array(eventName).describe('The webhooks to expect, in their order.'),
        })
        .meta({ id: 'Scenario' }),
    ),
  }),
  responseDescription: 'The scenarios.',
  responseExamples: { scenarios: { success: true, data: all.slice(0, 2) } },
})

/** GET /sandbox/scenarios: the journeys that can be played. */
export const listScenarios: FastifyPluginAsyncZod = async (app) => {
  const answer = { success: true as const, data: all }
  app.get('/sandbox/scenarios', { schema: listSchema, handler: async () => answer })
}

/** A borrower for a lead that a scenario makes: nobody real. */
const BORROWER = {
  ...eachField(optionalFields, () => null),
  first_name: 'Sam',
  last_name: 'Sandbox',
  email: 'sam.sandbox@example.com',
  phone: '555-010-0100',
}

const tooManyScenarios = () =>
  retryLater('RATE_LIMITED', `${MOST_SCENARIOS} scenarios of yours are being played.`, 5)

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
    new ApiError('LEAD_CLOSED'),
    alreadyPlaying(),
    tooManyScenarios(),
  ],
})

type Options = Pick<RouteDependencies, 'sql' | 'encryptionKeys' | 'webhookBody'> & { scenarios: Scenarios }

/** POST /sandbox/run-scenario: a whole journey in one call. */
export const runScenario: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, webhookBody, scenarios: player } = options
  const limitRequests = limitInFlight(MOST_SCENARIOS, tooManyScenarios)
  const takeLeadId = leadIds(sql)

  async function newLead(partnerId: number, requestId: string): Promise<number> {
    await player.requireTemporal()
    const reserved = await takeLeadId()
    await insertLead(options, reserved, partnerId, BORROWER, webhookBody, { requestId })
    return reserved.leadId
  }

  app.post('/sandbox/run-scenario', {
    schema,
    handler: async (request, reply) => {
      const { partnerId, id: requestId } = request
      const { scenario, lead_id: named } = request.body
      request.leadId = named
      if (named !== undefined && !(await ownsLead(sql, partnerId, named))) throw unknownLead()
      if (named !== undefined && (await readLeadClock(sql, named))?.isClosed)
        throw new ApiError('LEAD_CLOSED')
      limitRequests(partnerId, reply)
      const play = async () => {
        const lead = named ?? (await newLead(partnerId, requestId))
        request.leadId = lead
        return { lead, state: await player.run(lead, scenario) }
      }
      const { lead, state } = await play().catch((err: unknown) => {
        request.log.warn({ err }, 'scenario not played to its end')
        throw unavailable()
      })
      if (state === 'moving') throw alreadyPlaying()
      const clock = await readLeadClock(sql, lead)
      // erased meanwhile
      if (clock === undefined || (clock.isClosed && !(await ownsLead(sql, partnerId, lead))))
        throw unknownLead()
      const webhooks = named === undefined ? { webhooks: webhooksOf(scenario) } : {}
      const data = { lead_id: lead, scenario, state, status: clock.status, ...webhooks, next: dueOf(clock) }
      return { success: true as const, data }
    },
  })
}

export interface Scenarios {
  /** Rejects while Temporal is away: asked before a lead is made. */
  requireTemporal(): Promise<void>
  /** Has a lead's workflow play a scenario, and waits for its end, eight seconds at most: `running`. */
  run(leadId: number, scenario: ScenarioName): Promise<ScenarioEnd | 'running' | 'moving'>
}

/** The one way in which scenarios are started, but for those that an address names. */
export function createScenarios(client: Client, referrals: Pick<Referrals, 'update'>): Scenarios {
  return {
    requireTemporal: async () => reachTemporal(client),
    async run(leadId, scenario) {
      try {
        return (await referrals.update(leadId, runScenarioUpdate, [{ scenario }])) ?? 'closed'
      } catch (error) {
        const refusal = refusalOf(error)
        if (refusal === CLOCK_MOVING) return 'moving'
        if (refusal === LEAD_CLOSED) return 'closed'
        throw error
      }
    },
  }
}

/** Also between two steps, when get-clock shows a clock that stands still. */
function alreadyPlaying(): ApiError {
  return new ApiError(
    'CLOCK_MOVING',
    'A scenario of this lead is being played, or its clock is moving. Try again once that is over, or name no lead_id, and play it with a new lead.',
  )
}
