import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { DEEPEST_JSON, isTooDeep } from '../../values/json-depth.ts'
import { ApiError, invalidPayload } from '../errors.ts'

const BYTE_ORDER_MARK = /^\uFEFF/

/** Accepts only JSON in UTF-8, and not nested too deep. Invalid bodies are rejected, never repaired. */
export const jsonBody = plugin(async (app) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async ({ headers }: FastifyRequest, bytes: Buffer) => {
      if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
        throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding.')
      }
      return parse(bytes)
    },
  )
})

/** An empty body becomes `undefined`, for which the schema has a message. */
function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw invalidPayload('The request body is not valid UTF-8.')
  if (isTooDeep(bytes))
    throw invalidPayload(`The request body is nested more than ${DEEPEST_JSON} levels deep.`)
  try {
    return JSON.parse(bytes.toString('utf8').replace(BYTE_ORDER_MARK, ''))
  } catch {
    throw invalidPayload('The request body is not valid JSON.')
  }
}
