import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { Sql } from '../../../../core/database/orm.ts'
import { noObject } from '../../../../core/http/errors.ts'
import { operation } from '../../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../../core/http/schemas.ts'
import { KEPT } from '../decisions/population.ts'
import { findPopulation } from '../statements/populations.ts'
import {
  exampleReport,
  foundPopulationResponse,
  populationId,
  unknownPopulation,
  viewOf,
} from './population-view.ts'

const schema = operation({
  operationId: 'getPopulation',
  client: { call: 'sandbox.population', result: 'population' },
  tags: ['Sandbox'],
  summary: 'Read a population and its report',
  description: `Returns how far a population is, and its report once it has ended. Your last ${KEPT.populations} populations are kept for ${KEPT.days} days; their leads stay.`,
  body: strictBody({ population_id: populationId.optional().describe('By default your latest one.') }),
  bodyExamples: { latest: {}, one: { population_id: 3107 } },
  response: foundPopulationResponse,
  responseDescription: 'The population.',
  responseExamples: {
    report: { success: true, data: exampleReport },
    'none yet': { success: true, data: null },
  },
  errors: [noObject(), unknownPopulation()],
})

/** POST /sandbox/get-population: progress and report. */
export const getPopulation: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/sandbox/get-population', {
    schema,
    handler: async ({ partnerId, body }) => {
      const row = await findPopulation(sql, partnerId, body.population_id)
      if (row === undefined && body.population_id !== undefined) throw unknownPopulation()
      return { success: true as const, data: row === undefined ? null : viewOf(row) }
    },
  })
}
