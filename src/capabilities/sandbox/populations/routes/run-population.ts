import { randomInt } from 'node:crypto'
import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { inTransaction } from '../../../../core/database/in-transaction.ts'
import type { Sql } from '../../../../core/database/orm.ts'
import { ApiError, invalidPayload, invalidRequest, retryLater } from '../../../../core/http/errors.ts'
import { integer } from '../../../../core/http/fields.ts'
import { operation } from '../../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../../core/http/schemas.ts'
import { answerOnce, keyedOperation } from '../../../../core/idempotency/routes/idempotency-key.ts'
import type { Keep } from '../../../../core/idempotency/statements/answers.ts'
import type { SandboxRouteDependencies } from '../../routes/dependencies.ts'
import { usesSink } from '../../statements/sinks.ts'
import { defaultMix } from '../decisions/journeys.ts'
import { LARGEST_SEED, LEADS_IN_FLIGHT, MOST_LEADS } from '../decisions/population.ts'
import { findPopulation, requestPopulation, whyHeld } from '../statements/populations.ts'
import {
  exampleView,
  faults,
  mix,
  populationResponse,
  type PopulationView,
  viewOf,
} from './population-view.ts'

type Options = Pick<SandboxRouteDependencies, 'sql' | 'startPopulation' | 'sinkBase'>

const NEEDS_SINK = 'needs the sink as your endpoint: make it so with POST /v1/sandbox/use-sink'
const HAS_NO_SINK = 'must be absent: this sandbox has no sink'

const noFaults = (problem: string) =>
  invalidPayload(`Invalid request: faults ${problem}.`, [{ field: 'faults', problem }])

const isRunning = (id: number) =>
  retryLater(
    'RATE_LIMITED',
    `Your population ${id} is running, and one can run at a time. Wait for its end, or cancel it with POST /v1/sandbox/cancel-population.`,
    30,
  )

const body = strictBody(
  {
    size: integer(1, MOST_LEADS).describe('How many borrowers.'),
    seed: integer(0, LARGEST_SEED)
      .optional()
      .describe(
        'With the same `size` and `mix`, it makes the same journeys. By default any; the response has it.',
      ),
    mix: mix.optional(),
    faults: faults
      .optional()
      .describe(
        'How often the sink refuses webhooks meanwhile, where it would answer 200. By default never. A sandbox without a sink has none.',
      ),
  },
  'size is required',
)

const schema = operation({
  operationId: 'runPopulation',
  client: { call: 'sandbox.runPopulation', result: 'population', prints: ['population_id', 'status'] },
  tags: ['Sandbox'],
  summary: 'Play the journeys of many borrowers',
  description: `Creates up to ${MOST_LEADS.toLocaleString('en')} leads with made-up borrowers, and plays a year of each on the lead’s own clock, ${LEADS_IN_FLIGHT.alone} leads at a time, against your endpoint or sink: slow and steep climbs, borrowers who stop at each step, chats, late and repeated milestones, closings and erasures. \`mix\` says how often each. The response comes at once; get-population has the progress, and a report at the end. One population can run at a time. It slows down while other partners get webhooks. Leave its leads alone meanwhile: what you do to them changes their journeys.`,
  ...keyedOperation,
  body,
  bodyExamples: {
    'a hundred': { size: 100, seed: 42 },
  },
  response: populationResponse,
  responseDescription: 'The population is being played.',
  responseExamples: { running: { success: true, data: exampleView } },
  links: { population_id: '/data/population_id' },
  errors: [
    invalidRequest({ field: 'size', problem: 'must be an integer' }),
    noFaults(NEEDS_SINK),
    new ApiError('NO_ENDPOINT'),
    new ApiError('ENDPOINT_PAUSED'),
    new ApiError('PAUSED_BY_STAFF'),
    new ApiError('IDEMPOTENCY_CONFLICT'),
    isRunning(3107),
  ],
})

/** POST /sandbox/run-population: the journeys of many borrowers in one call. */
export const runPopulation: FastifyPluginAsyncZod<Options> = async (
  app,
  { sql, startPopulation, sinkBase },
) => {
  app.post('/sandbox/run-population', {
    schema,
    handler: async (request, reply) => {
      if (request.body.faults !== undefined && sinkBase === undefined) throw noFaults(HAS_NO_SINK)
      const { kind, answer } = await answerOnce<PopulationView>(
        sql,
        'run-population',
        [request, reply],
        (its, keep) => ask(its, request, keep),
      )
      if (kind === 'made') startPopulation(answer.population_id)
      return { success: true as const, data: answer }
    },
  })
}

type Asked = Pick<FastifyRequest, 'partnerId' | 'id'> & { body: z.output<typeof body> }

/**
 * In one transaction: a reset comes before it, or finds the population.
 *
 * @throws {ApiError}
 */
const ask = (its: Sql, asked: Asked, keep: Keep<PopulationView>): Promise<PopulationView> =>
  inTransaction(its, (trx) => askIn(trx, asked, keep))

async function askIn(
  trx: Sql,
  { partnerId, id: requestId, body: asked }: Asked,
  keep: Keep<PopulationView>,
): Promise<PopulationView> {
  const wanted = {
    partnerId,
    requestId,
    size: asked.size,
    seed: asked.seed ?? randomInt(LARGEST_SEED),
    mix: asked.mix ?? defaultMix,
    faults: asked.faults === undefined ? null : { status: asked.faults.status, oneIn: asked.faults.one_in },
  }
  const { kind, id } = await requestPopulation(trx, wanted, async () => {
    const why = await whyHeld(trx, partnerId)
    if (why !== undefined) throw new ApiError(why)
    if (asked.faults !== undefined && !(await usesSink(trx, partnerId))) throw noFaults(NEEDS_SINK)
  })
  if (kind === 'open') throw isRunning(id)
  const row = await findPopulation(trx, partnerId, id)
  if (row === undefined) throw new Error('a population was written and is not there')
  const view = viewOf(row)
  await keep(view)
  return view
}
