import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { type ParseError, parse as parseTolerantly } from 'jsonc-parser'
import { DEEPEST_JSON, isTooDeep } from '../../values/json-depth.ts'
import { ApiError, invalidPayload } from '../errors.ts'

const BYTE_ORDER_MARK = /^\uFEFF/

/** The parser that says where a fault is calls itself at each bracket. */
const MOST_BRACKETS = 500

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
    throw invalidPayload(`The request body is not valid JSON${placeOf(bytes.toString('utf8'))}.`)
  }
}

/** Where it is not, which V8 says of some faults only, and never without a part of the body. */
function placeOf(text: string): string {
  if (text.split(/[[{]/, MOST_BRACKETS + 1).length > MOST_BRACKETS) return ''
  const faults: ParseError[] = []
  parseTolerantly(text, faults, { disallowComments: true })
  const [first] = faults
  if (first === undefined) return ''
  const before = text.slice(0, first.offset).split('\n')
  return `: see line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}
