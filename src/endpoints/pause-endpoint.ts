import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { hasRetries } from '../deliveries/resend-webhook.ts'
import { pauseOrResume } from './endpoint.ts'
import {
  actOnOwnEndpoint,
  actorOf,
  orRefusal,
  requireUrl,
  selfServiceOff,
  SelfServiceRefusal,
  type SelfServiceRouteDependencies,
} from './own-endpoint.ts'
import { describeReason, isFailing } from './endpoint-state.ts'
import { endpointView, exampleView, viewOf } from './endpoint-view.ts'
import { ApiError, noObject } from '../http/errors.ts'
import { operation } from '../http/operation.ts'
import { strictBody, success } from '../http/schemas.ts'

const tags: ['Endpoint'] = ['Endpoint']
const shared = {
  tags,
  body: strictBody({}).describe('Empty.'),
  bodyExamples: { nothing: {} },
  response: z.object({ success, data: endpointView }),
}
const errors = [noObject(), selfServiceOff(), new ApiError('NO_ENDPOINT')]

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
    resumed: {
      success: true,
      data: { ...exampleView, health: 'active', reason: describeReason('resumed_by_partner') },
    },
  },
  errors: [...errors, new ApiError('PAUSED_BY_STAFF')],
})

type Options = Pick<SelfServiceRouteDependencies, 'sql' | 'environment' | 'startEndpoint'>

/** POST /pause-endpoint and POST /resume-endpoint (extensions). What staff paused, only staff resumes. */
export const pauseEndpoint: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, environment, startEndpoint } = options

  app.post('/pause-endpoint', {
    schema: pauseSchema,
    handler: async (request) => {
      const actor = actorOf(request, environment)
      const { paused } = await orRefusal(
        actOnOwnEndpoint(sql, 'pause', actor, async (trx, endpoint) => {
          requireUrl(endpoint)
          // a pause by staff stays theirs
          const isTheirs = endpoint.pausedBy === 'staff' || endpoint.pausedBy === 'partner'
          if (isTheirs) return { paused: undefined, audit: null }
          await pauseOrResume(trx, request.partnerId, 'pausedByPartner')
          return { paused: endpoint.id, audit: {} }
        }),
      )
      // it sends the email about the pause; if the service had paused it before, it waits for the next probe
      if (paused !== undefined) startEndpoint(paused)
      return { success: true as const, data: await viewOf(sql, request.partnerId) }
    },
  })

  app.post('/resume-endpoint', {
    schema: resumeSchema,
    handler: async (request) => {
      const actor = actorOf(request, environment)
      const { resumed } = await orRefusal(
        actOnOwnEndpoint(sql, 'resume', actor, async (trx, endpoint) => {
          requireUrl(endpoint)
          if (endpoint.pausedBy === 'staff') throw new SelfServiceRefusal('paused_by_staff')
          const { state, failingSince, isWaking } = endpoint
          const isActive = state === 'active' && !isFailing(state, failingSince)
          const nothingWaits = isActive && !(await hasRetries(trx, request.partnerId))
          if (nothingWaits || (state === 'active' && isWaking)) return { resumed: undefined, audit: null }
          await pauseOrResume(trx, request.partnerId, 'resumedByPartner')
          return { resumed: endpoint.id, audit: {} }
        }),
      )
      if (resumed !== undefined) startEndpoint(resumed)
      return { success: true as const, data: await viewOf(sql, request.partnerId) }
    },
  })
}
