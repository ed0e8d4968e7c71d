import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { Sql } from '../database/sql.ts'
import { ApiError, noObject } from '../http/errors.ts'
import { operation } from '../http/operation.ts'
import { endpointTransitions } from './endpoint-state.ts'
import { emptyBody, endpointResponse, viewOf } from './get-endpoint.ts'
import { columnsOf, type LockedEndpoint } from './endpoint.ts'
import { oweNotice } from './notices.ts'
import { changeOwnEndpoint, type EndpointDependencies, requireUrl } from './own-endpoint.ts'

const errors = [noObject(), new ApiError('NO_ENDPOINT')]

const pauseSchema = operation({
  operationId: 'pauseEndpoint',
  tags: ['Endpoint'],
  summary: 'Pause your endpoint',
  description:
    'Holds all webhooks until you call resume-endpoint. Nothing is lost, and nothing is tried meanwhile. Pausing a paused endpoint keeps it paused.',
  ...emptyBody,
  ...endpointResponse,
  errors,
})

const resumeSchema = operation({
  operationId: 'resumeEndpoint',
  tags: ['Endpoint'],
  summary: 'Resume your endpoint',
  description:
    'Sends webhooks again, held ones first and in order. It ends a pause by you or by the service; only our staff can end a pause by our staff. Webhooks that failed and wait for their next attempt are all tried now. If they are already being sent, nothing changes.',
  ...emptyBody,
  ...endpointResponse,
  errors: [...errors, new ApiError('PAUSED_BY_STAFF')],
})

/** POST /pause-endpoint and POST /resume-endpoint (extensions). Only staff resume what staff paused. */
export const pauseEndpoint: FastifyPluginAsyncZod<EndpointDependencies> = async (
  app,
  { sql, startEndpoint },
) => {
  const call = (name: 'pause' | 'resume', reason: 'partner' | 'resumed_by_partner', isDone: IsDone) =>
    app.post(`/${name}-endpoint`, {
      schema: name === 'pause' ? pauseSchema : resumeSchema,
      handler: async (request) => {
        const { partnerId } = request
        const { audit } = await changeOwnEndpoint(sql, request, `endpoint.${name}`, async (trx, endpoint) => {
          requireUrl(endpoint)
          if (isDone(endpoint)) return { audit: null }
          await pauseOrResume(trx, partnerId, reason)
          return { audit: {} }
        })
        // its workflow sends the mail, and wakes the leads
        if (audit !== null) startEndpoint(partnerId)
        return { success: true as const, data: await viewOf(sql, partnerId) }
      },
    })
  call('pause', 'partner', ({ paused_by: by }) => by === 'staff' || by === 'partner')
  call('resume', 'resumed_by_partner', ({ paused_by: by, round, woken_round: woken }) => {
    if (by === 'staff') throw new ApiError('PAUSED_BY_STAFF')
    return by === null && round !== woken
  })
}

/** Whether an endpoint is in the requested state already. */
type IsDone = (endpoint: LockedEndpoint) => boolean

/** Pauses or resumes a partner's endpoint. @returns whether it has a URL. */
export async function pauseOrResume(
  trx: Sql,
  partnerId: number,
  reason: 'staff' | 'resumed' | 'partner' | 'resumed_by_partner',
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('endpoints')
    .set(columnsOf(reason))
    .where('partner_id', '=', partnerId)
    .where('url', 'is not', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  if (endpointTransitions[reason].pausedBy !== null) await oweNotice(trx, partnerId, 'paused')
  return true
}
