import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { scenarioNames, scenarios, webhooksOf } from './scenarios.ts'
import { oneOf } from '../http/fields.ts'
import { eventName } from '../leads/event-schema.ts'
import { operation } from '../http/operation.ts'
import { success } from '../http/schemas.ts'

const all = scenarioNames.map((name) => ({
  scenario: name,
  about: scenarios[name].about,
  email: `you+${name}@example.com`,
  webhooks: webhooksOf(name),
}))

export const scenarioName = z
  .enum(scenarioNames, { error: oneOf(scenarioNames) })
  .meta({ id: 'ScenarioName' })

const schema = operation({
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
  app.get('/sandbox/scenarios', { schema, handler: async () => ({ success: true as const, data: all }) })
}
