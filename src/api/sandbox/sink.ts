import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyPluginAsync } from 'fastify'
import { findSinkByToken, keepArrival, SINK_PATH, takeAnswer } from '../../db/sinks.ts'
import type { Sql } from '../../db/orm.ts'
import { problemOf } from '../../webhooks/verify.ts'
import { ApiError } from '../errors.ts'

interface Options {
  sql: Sql
  encryptionKeys: readonly Buffer[]
}

/** The path of a sink, below `/v1`. */
export const sinkPath = (token: string) => `${SINK_PATH}${token}`

/**
 * POST /sandbox/sinks/{token}: an endpoint for partners that have none. It verifies what arrives as a partner should,
 * keeps it, and answers as it was told.
 */
export const sink: FastifyPluginAsync<Options> = async (app, { sql, encryptionKeys }) => {
  // the signature is over the bytes as they came
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => bytes)
  app.post<{ Params: { token: string } }>(sinkPath(':token'), {
    // not in the reference: it is the worker that calls it
    schema: { hide: true, 'x-operation': {} },
    handler: async (request, reply) => {
      const found = await findSinkByToken(sql, request.params.token, encryptionKeys)
      if (found === undefined) {
        await app.limitAddress(request)
        throw new ApiError('NOT_FOUND')
      }
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      )
      const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : ''
      const problem = problemOf(found.secrets, body, headers) ?? null
      const answer = problem === null ? await takeAnswer(sql, found.partnerId) : { status: 400, delayMs: 0 }
      const webhookId = headers['webhook-id'] ?? ''
      await keepArrival(sql, found.partnerId, { webhookId, headers, body, problem, ...answer })
      await delay(answer.delayMs)
      return reply.code(answer.status).send({ received: true, verified: problem === null })
    },
  })
}
