/** A list that is read while it is written, page by page. */
export type Pages = AsyncIterable<readonly unknown[]>

/**
 * One JSON object in pieces, for documents that are too long to hold at once.
 *
 * @param parts its properties in their order; those that are `Pages` become arrays.
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
    yield before + page.map((item) => JSON.stringify(item)).join(',\n')
    before = ',\n'
  }
  yield before === '[' ? '[]' : ']'
}

function isPages(part: unknown): part is Pages {
  return typeof part === 'object' && part !== null && Symbol.asyncIterator in part
}
