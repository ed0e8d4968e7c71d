import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { runScenarioUpdate } from '../../workflows/messages.ts'
import { ApiError, invalidRequest, unknownLead } from '../http/errors.ts'
import { oneOf, ownLeadId } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { strictBody, success } from '../http/schemas.ts'
import { eachField, optionalFields } from '../leads/lead-fields.ts'
import { insertLead, leadIds } from '../leads/new-lead.ts'
import { requireOwnLead } from '../partners/own-lead.ts'
import { askLead, type AskingOptions, tooManyAdvances } from './ask-lead.ts'
import { exampleStanding, standing, standingOf } from './get-clock.ts'
import { MOST_ADVANCES } from './lead-clock.ts'
import { clockOf } from './lead-time.ts'
import { scenarioNames, scenarios } from './scenarios.ts'

const scenarioName = z.enum(scenarioNames, { error: oneOf(scenarioNames) }).meta({ id: 'ScenarioName' })

const all = scenarioNames.map((name) => ({ scenario: name, about: scenarios[name].about }))

const listSchema = operation({
  operationId: 'listScenarios',
  tags: ['Sandbox'],
  summary: 'List the scenarios',
  description:
    'Returns the journeys that run-scenario plays. A lead that is created with an email address ending with `+<scenario>@example.com` plays one, too.',
  response: z.object({
    success,
    data: z.array(
      z
        .object({ scenario: scenarioName, about: z.string().describe('For people.') })
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

const schema = operation({
  operationId: 'runScenario',
  tags: ['Sandbox'],
  summary: 'Play a whole journey',
  description: `Plays a scenario with a lead, or with a new one if you name none. Its milestones are recorded and sent as in production, on the lead’s own clock, which moves as far as the scenario takes. \`GET /v1/sandbox/scenarios\` lists the scenarios. Milestones that the lead already has are not repeated. The response comes when the scenario is over, or after ten seconds: the rest continues on its own. ${MOST_ADVANCES} of your requests can move clocks at a time.`,
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
        ...standing,
        scenario: scenarioName,
        state: z
          .enum(['done', 'running', 'stopped', 'closed'])
          .describe(
            '`running`: it continues on its own. `stopped`: your endpoint has refused webhooks for so long that production would pause it, the lead’s clock is 20 years ahead, or the lead has 1,000 events. `closed`: the lead was closed on the way, or our staff ended the scenario.',
          ),
      })
      .meta({ id: 'ScenarioRun' }),
  }),
  responseDescription: 'The scenario was played, or is being played.',
  responseExamples: {
    done: {
      success: true,
      data: { ...exampleStanding, scenario: 'scores_go_down', state: 'done' },
    },
  },
  errors: [
    invalidRequest({ field: 'scenario', problem: 'is required' }),
    unknownLead(),
    new ApiError('LEAD_CLOSED'),
    new ApiError('CLOCK_MOVING'),
    tooManyAdvances(),
  ],
})

const UNPLAYED = 'scenario not played to its end'

/** POST /sandbox/run-scenario: a whole journey in one call. */
export const runScenario: FastifyPluginAsyncZod<AskingOptions> = async (app, options) => {
  const { sql, webhookBody, referrals, reachTemporal, limitAdvances } = options
  const takeLeadId = leadIds(sql)

  async function newLead(partnerId: number, requestId: string): Promise<number> {
    // while Temporal is away, nothing would play the scenario with the new lead
    await reachTemporal()
    const reserved = await takeLeadId()
    await insertLead(options, reserved, partnerId, BORROWER, webhookBody, { requestId })
    return reserved.leadId
  }

  app.post('/sandbox/run-scenario', {
    schema,
    handler: async (request, reply) => {
      const { partnerId, id: requestId } = request
      const { scenario, lead_id: named } = request.body
      if (named !== undefined) await requireOwnLead(sql, request, named)
      limitAdvances(partnerId, reply)
      const lead = named ?? (await askLead(request, UNPLAYED, () => newLead(partnerId, requestId)))
      request.leadId = lead
      const state = await askLead(request, UNPLAYED, () =>
        referrals.update(lead, runScenarioUpdate, [{ scenario }]),
      )
      const data = { ...standingOf(await clockOf(sql, lead)), scenario, state }
      return { success: true as const, data }
    },
  })
}
