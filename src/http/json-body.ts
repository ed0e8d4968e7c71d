import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError, invalidPayload } from './errors.ts'

/** How many arrays and objects a JSON text from outside may have inside one another. */
const DEEPEST_JSON = 32

const [QUOTE, BACKSLASH, ARRAY, OBJECT, ARRAY_END, OBJECT_END] = Buffer.from('"\\[{]}')

/** Whether JSON in UTF-8 is nested deeper than `DEEPEST_JSON`. For what is not JSON, the answer may be wrong. */
export function isTooDeep(json: Uint8Array): boolean {
  let depth = 0
  let isText = false
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at] ?? 0
    if (sign === QUOTE) isText = !isText
    else if (isText) at += sign === BACKSLASH ? 1 : 0
    else if (sign === ARRAY || sign === OBJECT) depth += 1
    else if (sign === ARRAY_END || sign === OBJECT_END) depth -= 1
    if (depth > DEEPEST_JSON) return true
  }
  return false
}

/** Accepts only JSON in UTF-8 that is not nested too deep. Invalid bodies are rejected, never repaired. */
export function acceptJson(app: FastifyInstance): void {
  const read = async ({ headers }: FastifyRequest, bytes: Buffer) => {
    if ((headers['content-encoding'] ?? 'identity') !== 'identity')
      throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding.')
    return parse(bytes)
  }
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, read)
}

/** An empty body becomes `undefined`, for which the schema has a message. */
function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw invalidPayload('The request body is not valid UTF-8.')
  if (isTooDeep(bytes))
    throw invalidPayload(`The request body is nested more than ${DEEPEST_JSON} levels deep.`)
  try {
    return JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''))
  } catch {
    throw invalidPayload('The request body is not valid JSON.')
  }
}
