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

/**
 * One JSON object in pieces, for documents that are too long to hold at once.
 *
 * @param parts its properties in their order; those that are `Pages` become arrays, whose items may have `Pages` again.
 */
export async function* jsonPieces(parts: Readonly<Record<string, unknown>>): AsyncGenerator<string> {
  let before = '{'
  for (const [name, part] of Object.entries(parts)) {
    if (part === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    if (isPages(part)) yield* arrayPieces(part)
    else yield JSON.stringify(part)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

async function* arrayPieces(pages: Pages): AsyncGenerator<string> {
  let before = '['
  for await (const page of pages) {
    if (page.length === 0) continue
    yield before
    if (page.some(hasPages)) yield* itemPieces(page)
    else yield page.map((item) => JSON.stringify(item)).join(',\n')
    before = ',\n'
  }
  yield before === '[' ? '[]' : ']'
}

async function* itemPieces(items: readonly unknown[]): AsyncGenerator<string> {
  for (const [index, item] of items.entries()) {
    if (index > 0) yield ',\n'
    if (hasPages(item)) yield* jsonPieces(item)
    else yield JSON.stringify(item)
  }
}

function hasPages(item: unknown): item is Readonly<Record<string, unknown>> {
  return typeof item === 'object' && item !== null && Object.values(item).some(isPages)
}

function isPages(part: unknown): part is Pages {
  return typeof part === 'object' && part !== null && Symbol.asyncIterator in part
}
