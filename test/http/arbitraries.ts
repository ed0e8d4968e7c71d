import * as fc from 'fast-check'
import { postRoutes } from './openapi-document.ts'

/** What a careless or hostile sender might send: anything, and often something almost valid. */

export const text = fc.string({ unit: 'binary', maxLength: 300 })
/** 1 to 64 printable characters of any script. */
export const printable = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCodePoint(code)),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    ),
    { minLength: 1, maxLength: 64 },
  )
  .map((characters) => characters.join(''))
  .filter((name) => /^[^\p{C}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]{1,64}$/u.test(name))
const anyJson = fc.jsonValue({ depthSize: 'small' })

const otherNames = ['id', 'status', 'partner_id', '__proto__', 'constructor', 'x']
export const field = fc.constantFrom(...new Set(postRoutes.flatMap(({ fields }) => fields)), ...otherNames)
export const likely = fc.constantFrom<unknown>(
  'Ada',
  'ada@example.com',
  '555-0100',
  '500-549',
  'TX',
  '',
  null,
  1,
  2,
  -1,
  ['pending'],
  'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
  '1-1-1',
)

/** A number as a cursor might carry it: at and beyond the ends of every range, signed, with leading zeros. */
const digits = fc
  .tuple(
    fc.constantFrom('', '', '', '0', '-', ' '),
    fc.oneof(
      fc.nat({ max: 99 }).map(String),
      fc
        .tuple(fc.constantFrom(31n, 32n, 53n, 63n, 64n), fc.bigInt({ min: -1n, max: 1n }))
        .map(([bits, step]) => String(2n ** bits + step)),
      fc.stringMatching(/^[0-9]{1,30}$/),
    ),
  )
  .map((parts) => parts.join(''))
/** By the grammar of list-events, list-leads and get-deliveries, or almost. */
const cursor: fc.Arbitrary<unknown> = fc.oneof(
  fc.array(digits, { minLength: 1, maxLength: 5 }).map((numbers) => numbers.join('-')),
  digits.map(Number),
  fc.constantFrom('now', ' now', 'NOW'),
  fc.tuple(fc.uuid(), fc.oneof(fc.constant(''), text)).map(([uuid, more]) => `evt_${uuid}${more}`),
)
const placeFields = [
  'after',
  'lead_id',
  'event_id',
  'limit',
  'wait',
  'overlap_hours',
  'status',
  'times',
  'delay_ms',
]
/** Bodies with those of the `fields` of a route that are ids, numbers or places. */
export const placesIn = (fields: readonly string[]) =>
  fc.record(
    Object.fromEntries(placeFields.filter((name) => fields.includes(name)).map((name) => [name, cursor])),
    { requiredKeys: [] },
  )

export const bodies = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  anyJson.map((value) => JSON.stringify(value)),
  fc.dictionary(fc.oneof(field, text), fc.oneof(likely, text, anyJson)).map((value) => JSON.stringify(value)),
  fc
    .array(fc.tuple(field, fc.oneof(likely, text)), { maxLength: 12 })
    .map((pairs) => `{${pairs.map(([key, value]) => `"${key}":${JSON.stringify(value)}`).join()}}`),
)
const headerValue = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCodePoint(code)),
  maxLength: 60,
})
export const contentType = fc.oneof(
  { weight: 4, arbitrary: fc.constant('application/json') },
  fc.constantFrom(
    'application/json;charset=utf-8',
    'application/jsonx',
    'text/plain',
    'application/JSON ; a="b"',
    '',
  ),
  headerValue,
)

const headerNames = fc.constantFrom(
  'authorization',
  'idempotency-key',
  'content-encoding',
  'expect',
  'accept',
  'x-forwarded-for',
  'cookie',
  'origin',
)
export const someHeaders = fc.dictionary(headerNames, headerValue)

export const methods = fc.constantFrom(
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'SEARCH',
  'M-SEARCH',
  'LOCK',
)
const piece = fc.oneof(
  fc.constantFrom(
    '/',
    '/v1',
    '/v1/ping',
    '/get-lead',
    '?',
    '#',
    '%',
    '%2F',
    '%00',
    '%ff',
    '%2e%2e',
    '..',
    ';',
    ':',
    '//',
    '\\',
    'http://',
    '*',
    '%E2%82%AC',
    '%c0%ae',
    '{',
    '"',
  ),
  fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCodePoint(code)),
    maxLength: 10,
  }),
)
export const addresses = fc
  .array(piece, { maxLength: 6 })
  .map((pieces) => pieces.join('').replace(/^(?!\/)/, '/'))
