import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { sql as raw } from 'kysely'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import { ApiError, noObject } from '../http/errors.ts'
import { operation } from '../http/operation.ts'
import { strictBody, success } from '../http/schemas.ts'
import { describeReason } from './endpoint-state.ts'
import { endpointView, exampleView, viewOf } from './endpoint-view.ts'
import { pauseOrResume } from './endpoint.ts'
import { changeOwnEndpoint, type EndpointDependencies, requireUrl } from './own-endpoint.ts'

const tags: ['Endpoint'] = ['Endpoint']
const shared = {
  tags,
  body: strictBody({}).describe('Empty.'),
  bodyExamples: { nothing: {} },
  response: z.object({ success, data: endpointView }),
}
const errors = [noObject(), new ApiError('NO_ENDPOINT')]

const pauseSchema = operation({
  ...shared,
  operationId: 'pauseEndpoint',
  summary: 'Pause your endpoint',
  description:
    'Holds all webhooks until you call resume-endpoint. Nothing is lost, and nothing is tried meanwhile. Pausing a paused endpoint keeps it paused.',
  responseDescription: 'The endpoint is paused.',
  responseExamples: {
    paused: {
      success: true,
      data: { ...exampleView, health: 'paused', reason: describeReason('partner') },
    },
  },
  errors,
})

const resumeSchema = operation({
  ...shared,
  operationId: 'resumeEndpoint',
  summary: 'Resume your endpoint',
  description:
    'Sends webhooks again, held ones first and in order. It ends a pause by you or by the service; a pause by our staff is ended by our staff. Webhooks that failed and wait for their next attempt are all tried now. If none waits, or they are already being sent, nothing changes.',
  responseDescription: 'Held webhooks are being sent.',
  responseExamples: {
    resumed: { success: true, data: { ...exampleView, reason: describeReason('resumed_by_partner') } },
  },
  errors: [...errors, new ApiError('PAUSED_BY_STAFF')],
})

type Options = Pick<EndpointDependencies, 'sql' | 'startEndpoint'>

/** POST /pause-endpoint and POST /resume-endpoint (extensions). Only staff resume what staff paused. */
export const pauseEndpoint: FastifyPluginAsyncZod<Options> = async (app, { sql, startEndpoint }) => {
  app.post('/pause-endpoint', {
    schema: pauseSchema,
    handler: async (request) => {
      const { partnerId } = request
      const paused = await changeOwnEndpoint(sql, request, 'endpoint.pause', async (trx, endpoint) => {
        requireUrl(endpoint)
        const isByPerson = endpoint.paused_by === 'staff' || endpoint.paused_by === 'partner'
        if (isByPerson) return { audit: null }
        return { audit: {}, id: await pauseOrResume(trx, partnerId, 'partner') }
      })
      // its workflow sends the mail
      if (paused.id !== undefined) startEndpoint(paused.id)
      return { success: true as const, data: await viewOf(sql, partnerId) }
    },
  })

  app.post('/resume-endpoint', {
    schema: resumeSchema,
    handler: async (request) => {
      const { partnerId } = request
      const resumed = await changeOwnEndpoint(sql, request, 'endpoint.resume', async (trx, endpoint) => {
        requireUrl(endpoint)
        if (endpoint.paused_by === 'staff') throw new ApiError('PAUSED_BY_STAFF')
        const isActive = endpoint.state === 'active'
        const isWaking = isActive && endpoint.round !== endpoint.woken_round
        const isFailing = endpoint.failing_since !== null || (isActive && (await hasRetries(trx, partnerId)))
        if (isWaking || (isActive && !isFailing)) return { audit: null }
        return { audit: {}, id: await pauseOrResume(trx, partnerId, 'resumed_by_partner') }
      })
      if (resumed.id !== undefined) startEndpoint(resumed.id)
      return { success: true as const, data: await viewOf(sql, partnerId) }
    },
  })
}

/** Whether webhooks of a partner failed and wait for their next attempt. */
async function hasRetries(trx: Sql, partnerId: number): Promise<boolean> {
  const { rows } = await raw`
    select from deliveries d join endpoints e on e.partner_id = d.partner_id
    where d.partner_id = ${partnerId} and d.state = 'pending' and d.round = e.round
      and d.next_attempt_at > clock_timestamp() limit 1`.execute(trx)
  return rows.length > 0
}
