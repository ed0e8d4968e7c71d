import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { sql as raw } from 'kysely'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import { ApiError, invalidPayload, invalidRequest } from '../http/errors.ts'
import { keyedOperation } from '../http/idempotency.ts'
import { operation } from '../http/operation.ts'
import { strictBody } from '../http/schemas.ts'
import type { SealAt } from '../seal.ts'
import { checkEndpointUrl } from '../webhooks/endpoint-url.ts'
import { responseWithSecret } from './get-endpoint.ts'
import type { EndpointDependencies } from './own-endpoint.ts'
import { answerWithNewSecret } from './rotate-endpoint-secret.ts'
import { addSecret } from './secrets.ts'

const schema = operation({
  operationId: 'setEndpoint',
  tags: ['Endpoint'],
  summary: 'Set the URL of your endpoint',
  description:
    'Stores a candidate for the URL of your endpoint, with a signing secret of its own. Nothing is sent to it yet: configure your receiver with the secret, then call certify-endpoint. Until it has passed, webhooks go to the current URL. It replaces an earlier candidate. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the same secret.',
  ...keyedOperation,
  body: strictBody(
    {
      url: z
        .string('must be a string')
        .describe(
          'In production `https`, on port 443 or 8443, at a public address. No user name, password or fragment.',
        ),
    },
    'url is required',
  ),
  bodyExamples: { url: { url: 'https://lender.example.com/webhooks' } },
  ...responseWithSecret,
  errors: [
    invalidRequest({ field: 'url', problem: 'must be a string' }),
    new ApiError('SECRET_REPLACED'),
    new ApiError('IDEMPOTENCY_CONFLICT'),
  ],
})

/** POST /set-endpoint (extension): stores the URL that a partner wants its webhooks at. */
export const setEndpoint: FastifyPluginAsyncZod<EndpointDependencies> = async (app, options) => {
  app.post('/set-endpoint', {
    schema,
    handler: async (request, reply) => {
      const { url } = request.body
      const fault = checkEndpointUrl(url, options)
      if (fault !== null)
        throw invalidPayload(`Invalid request: url: ${fault.hint}.`, [{ field: 'url', problem: fault.hint }])
      return answerWithNewSecret(
        options,
        { call: 'set-endpoint', action: 'endpoint.propose' },
        [request, reply],
        async (trx, { partner_id: partnerId }, secret) => {
          const candidate = await setCandidate(trx, partnerId, url, secret)
          return { secretId: candidate, audit: { candidate, origin: new URL(url).origin } }
        },
      )
    },
  })
}

/**
 * Stores a URL to certify, with a secret of its own, in place of an earlier candidate. The caller's transaction has the
 * endpoint locked.
 *
 * @returns the candidate's number: the id of its secret.
 */
export async function setCandidate(
  trx: Sql,
  partnerId: number,
  url: string,
  secret: SealAt,
): Promise<number> {
  const candidate = await addSecret(trx, partnerId, secret)
  const at = raw<Date>`clock_timestamp()`
  await trx
    .updateTable('endpoints')
    .set({ candidate, candidate_url: url, candidate_at: at, certification: null })
    .where('partner_id', '=', partnerId)
    .execute()
  return candidate
}
