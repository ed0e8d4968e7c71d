import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/**
 * Answers with JSON that is too long to hold at once. What fails after the beginning can only cut it off: it is complete
 * if it is valid.
 *
 * @returns what the handler returns. A stream is sent as it is, so its type says what is in it.
 */
export function streamed(reply: FastifyReply, pieces: AsyncIterable<string>): never {
  reply.type('application/json; charset=utf-8')
  return Readable.from(pieces) as never
}

/** A list that is read while it is written, page by page. */
export type Pages = AsyncIterable<readonly unknown[]>

/** JSON in pieces. `Pages` become arrays, in the value itself, its properties, and the items of other `Pages`. */
export async function* jsonPieces(value: unknown): AsyncGenerator<string> {
  if (isPages(value)) yield* listPieces(value)
  else if (!hasPages(value)) yield JSON.stringify(value)
  else {
    let before = '{'
    for (const [name, part] of Object.entries(value)) {
      if (part === undefined) continue
      yield `${before}${JSON.stringify(name)}:`
      yield* jsonPieces(part)
      before = ','
    }
    yield '}'
  }
}

async function* listPieces(pages: Pages): AsyncGenerator<string> {
  let before = '['
  for await (const page of pages) {
    // one piece for a page, if its items are small
    const items = page.some(hasPages)
      ? page.map(jsonPieces)
      : [[page.map((item) => JSON.stringify(item)).join(',\n')]]
    for (const pieces of page.length === 0 ? [] : items) {
      yield before
      yield* pieces
      before = ',\n'
    }
  }
  yield before === '[' ? '[]' : ']'
}

function hasPages(item: unknown): item is Readonly<Record<string, unknown>> {
  return typeof item === 'object' && item !== null && Object.values(item).some(isPages)
}

function isPages(part: unknown): part is Pages {
  return typeof part === 'object' && part !== null && Symbol.asyncIterator in part
}
