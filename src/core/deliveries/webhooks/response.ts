import type { IncomingHttpHeaders } from 'node:http'

const READ_BYTES = 64 * 1024
const KEEP_BYTES = 4 * 1024
const KEEP_HEADERS = 40
const KEEP_HEADER_LENGTH = 512
/** Names and values of all: a page of deliveries may show those of 2,000 attempts. */
const KEEP_HEADERS_LENGTH = 2 * 1024

/** Never stored: an endpoint may send its own credentials, or echo ours. */
const SECRET_HEADER = /cookie|auth|token|secret|signature|session|credential|password|api-?key/i

/**
 * The first 4 KiB of a body as text. At most 64 KiB are read, so an endless response costs no more than that. A
 * compressed body is not kept, since it could decompress to any size, and one that was cut says so.
 */
export async function readBody(body: AsyncIterable<Buffer>, encoding: string | undefined): Promise<string> {
  const kept: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    if (bytes < KEEP_BYTES) kept.push(chunk.subarray(0, KEEP_BYTES - bytes))
    bytes += chunk.length
    if (bytes >= READ_BYTES) break
  }
  if (encoding !== undefined && encoding !== 'identity' && bytes > 0) return `(${encoding}, not decompressed)`
  // `stream` drops a character that is cut at the end; PostgreSQL's text cannot hold U+0000
  const text = new TextDecoder().decode(Buffer.concat(kept), { stream: true }).replaceAll('\u0000', '\ufffd')
  return bytes > KEEP_BYTES ? `${text}… (cut)` : text
}

/** The response headers to store: limited in number and length, without credentials. */
export function keptHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const named = Object.entries(headers).filter(([name]) => !SECRET_HEADER.test(name))
  const kept: [string, string][] = []
  let length = 0
  for (const [name, value] of named.slice(0, KEEP_HEADERS)) {
    const pair: [string, string] = [clip(name), clip(String(value))]
    length += pair.join('').length
    if (length > KEEP_HEADERS_LENGTH) break
    kept.push(pair)
  }
  return Object.fromEntries(kept)
}

/** The first value of a header. */
export function headerValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  const first = Array.isArray(value) ? value[0] : value
  return first === undefined ? undefined : clip(first)
}

function clip(text: string): string {
  return text.slice(0, KEEP_HEADER_LENGTH)
}
