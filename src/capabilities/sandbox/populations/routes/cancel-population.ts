import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { Sql } from '../../../../core/database/orm.ts'
import { invalidRequest } from '../../../../core/http/errors.ts'
import { operation } from '../../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../../core/http/schemas.ts'
import { findPopulation, requestEnd } from '../statements/populations.ts'
import {
  exampleView,
  populationId,
  populationResponse,
  unknownPopulation,
  viewOf,
} from './population-view.ts'

const schema = operation({
  operationId: 'cancelPopulation',
  client: {
    call: 'sandbox.cancelPopulation',
    positional: ['population_id'],
    result: 'population',
    prints: ['status'],
  },
  tags: ['Sandbox'],
  summary: 'Cancel a population',
  description:
    'Ends a population within seconds; get-population has the report then. Its leads stay where they are, and open webhooks are still sent. A population that has ended stays as it is.',
  body: strictBody({ population_id: populationId }, 'population_id is required'),
  bodyExamples: { one: { population_id: 3107 } },
  response: populationResponse,
  responseDescription: 'The population ends, or has ended.',
  responseExamples: { canceling: { success: true, data: { ...exampleView, status: 'canceling' } } },
  errors: [invalidRequest({ field: 'population_id', problem: 'must be an integer' }), unknownPopulation()],
})

/** POST /sandbox/cancel-population: no more of it. */
export const cancelPopulation: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/sandbox/cancel-population', {
    schema,
    handler: async ({ partnerId, body }) => {
      const { population_id: id } = body
      if ((await findPopulation(sql, partnerId, id)) === undefined) throw unknownPopulation()
      await requestEnd(sql, id)
      const row = await findPopulation(sql, partnerId, id)
      if (row === undefined) throw unknownPopulation()
      return { success: true as const, data: viewOf(row) }
    },
  })
}
