import { randomBytes } from 'node:crypto'
import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import { endpointView, exampleView, viewOf } from '../endpoints/get-endpoint.ts'
import type { EndpointDependencies } from '../endpoints/own-endpoint.ts'
import { describeReason } from '../endpoints/endpoint-state.ts'
import { changeOwnEndpoint } from '../endpoints/own-endpoint.ts'
import { addSecret } from '../endpoints/secrets.ts'
import { switchAsPartner } from '../endpoints/switch-endpoint.ts'
import { ApiError, noObject } from '../http/errors.ts'
import { operation } from '../http/operation.ts'
import { strictBody, success } from '../http/schemas.ts'
import { sealing } from '../seal.ts'
import { generateSecret } from '../webhooks/signature.ts'
import { sinkPath, USUAL } from './sink.ts'

const schema = operation({
  operationId: 'useSink',
  tags: ['Sandbox'],
  summary: 'Receive webhooks at our sink',
  description:
    'Makes our sink your endpoint, for example if you have no public address. It verifies what arrives, and keeps the last 100 webhooks for get-sink. set-sink decides how it answers. Your webhooks go there at once. Calling it again makes the sink answer 200 again. Only our staff can end a pause by our staff.',
  body: strictBody({}).describe('Empty.'),
  bodyExamples: { nothing: {} },
  response: z.object({ success, data: endpointView }),
  responseDescription: 'Webhooks go to the sink.',
  responseExamples: {
    sink: {
      success: true,
      data: {
        ...exampleView,
        url: 'https://sandbox.example.com/v1/sandbox/sinks/7d1f0e9c2b3a4d5e6f708192a3b4c5d6',
        health: 'active',
        reason: describeReason('endpoint_set'),
      },
    },
  },
  errors: [noObject(), new ApiError('PAUSED_BY_STAFF')],
})

type Options = Pick<EndpointDependencies, 'sql' | 'encryptionKeys' | 'startEndpoint'> & {
  sinkBase: () => string
}

/** POST /sandbox/use-sink: makes an endpoint of ours the partner's. */
export const useSink: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, encryptionKeys, startEndpoint, sinkBase } = options
  app.post('/sandbox/use-sink', {
    schema,
    handler: async (request) => {
      const { partnerId } = request
      const url = `${sinkBase()}${sinkPath(await provideSink(sql, partnerId))}`
      const { url: current, health } = await viewOf(sql, partnerId)
      if (current !== url || health === 'paused') {
        await changeOwnEndpoint(sql, request, 'endpoint.set', async (trx, endpoint) => {
          // set once more, it would stay paused
          if (endpoint.url === url && endpoint.paused_by === 'staff') throw new ApiError('PAUSED_BY_STAFF')
          const secretId = await addSecret(trx, partnerId, sealing(generateSecret(), encryptionKeys))
          // ours: there is nothing to certify
          await switchAsPartner(trx, endpoint, { url, secretId })
          return { audit: { origin: new URL(url).origin, sink: true } }
        })
        startEndpoint(partnerId)
      }
      return { success: true as const, data: await viewOf(sql, partnerId) }
    },
  })
}

/** Makes a partner's sink, or has the one that is there answer 200 again. @returns the last part of its URL. */
async function provideSink(sql: Sql, partnerId: number): Promise<string> {
  const { token } = await sql
    .insertInto('sinks')
    .values({ partner_id: partnerId, token: randomBytes(16).toString('hex') })
    .onConflict((conflict) => conflict.column('partner_id').doUpdateSet({ ...USUAL, times_left: null }))
    .returning('token')
    .executeTakeFirstOrThrow()
  return token
}
