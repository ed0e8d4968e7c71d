/**
 * How the API writes what the client’s types describe: names in snake_case, times in UTC without a zone. Only names that
 * the API has are changed: those that a partner has made up are data.
 *
 * - `0`: a value as it is
 * - `'time'`: a `Date` here; `'iso'`: in ISO 8601 there
 * - `'#Name'`: as that schema
 */
export type Shape =
  | 0
  | 'time'
  | 'iso'
  | `#${string}`
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> }
  | { readonly by: string; readonly kinds: Readonly<Record<string, Shape>>; readonly other: Shape }

export type Shapes = Readonly<Record<string, Shape>>

type Fields = Record<string, unknown>

/** @param value as the API has sent it. */
export function decode(shapes: Shapes, shape: Shape, value: unknown): unknown {
  return convert(decoding(shapes), shape, value)
}

/** @param value in the client’s types. */
export function encode(shapes: Shapes, shape: Shape, value: unknown): unknown {
  return convert(encoding(shapes), shape, value)
}

/**
 * A field of a request by the names that the caller used: `events[0].event_name` is `events[0].eventName`. What the API
 * does not have stays as it is: the caller's own fields, and names of headers.
 */
export function clientPath(shapes: Shapes, shape: Shape, path: string): string {
  const [segment = '', ...rest] = path.split('.')
  const name = segment.replace(/\[.*/, '')
  const fields = fieldsOf(shapes, shape)
  if (!Object.hasOwn(fields, name)) return path
  const renamed = camelCase(name) + segment.slice(name.length)
  if (rest.length === 0) return renamed
  return `${renamed}.${clientPath(shapes, fields[name] ?? 0, rest.join('.'))}`
}

/** Of an object, or of those in a list. */
function fieldsOf(shapes: Shapes, shape: Shape): Readonly<Record<string, Shape>> {
  if (typeof shape === 'string') return fieldsOf(shapes, shapes[shape.slice(1)] ?? 0)
  if (shape === 0) return {}
  if ('list' in shape) return fieldsOf(shapes, shape.list)
  return 'fields' in shape ? shape.fields : {}
}

interface Direction {
  shapes: Shapes
  time: (value: unknown, notation: 'time' | 'iso') => unknown
  /** The name that a field has where the value comes from, and where it goes to. */
  from: (wireName: string) => string
  to: (wireName: string) => string
}

const same = (name: string) => name

function decoding(shapes: Shapes): Direction {
  return {
    shapes,
    time: (value) => (typeof value === 'string' ? readTime(value) : value),
    from: same,
    to: camelCase,
  }
}

function encoding(shapes: Shapes): Direction {
  return {
    shapes,
    time: (value, notation) => (value instanceof Date ? writeTime(value, notation) : value),
    from: camelCase,
    to: same,
  }
}

function convert(direction: Direction, shape: Shape, value: unknown): unknown {
  if (shape === 0 || value === null || value === undefined) return value
  if (shape === 'time' || shape === 'iso') return direction.time(value, shape)
  if (typeof shape === 'string') return convert(direction, direction.shapes[shape.slice(1)] ?? 0, value)
  if (typeof value !== 'object') return value
  if ('list' in shape)
    return Array.isArray(value) ? value.map((each) => convert(direction, shape.list, each)) : value
  if ('map' in shape) return mapped(value, (each) => convert(direction, shape.map, each))
  if ('fields' in shape) return convertFields(direction, shape.fields, value as Fields)
  const kind = (value as Fields)[direction.from(shape.by)]
  return convert(direction, kindOf(shape.kinds, kind) ?? shape.other, value)
}

function convertFields(direction: Direction, fields: Readonly<Record<string, Shape>>, value: Fields): Fields {
  const known = Object.keys(fields).map((name) => [direction.from(name), name] as const)
  const wireNames = new Map(known)
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      const wireName = wireNames.get(name)
      if (wireName === undefined) return [name, each]
      return [direction.to(wireName), convert(direction, fields[wireName] ?? 0, each)]
    }),
  )
}

function kindOf(kinds: Readonly<Record<string, Shape>>, kind: unknown): Shape | undefined {
  return typeof kind === 'string' && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
}

function mapped(value: object, change: (each: unknown) => unknown): Fields {
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each)]))
}

export function camelCase(name: string): string {
  return name.replace(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase())
}

/** `2026-11-21 20:57:56`, which is UTC, or ISO 8601; what is neither stays as it is. */
function readTime(text: string): Date | string {
  const time = new Date(text.includes('T') ? text : `${text.replace(' ', 'T')}Z`)
  return Number.isNaN(time.getTime()) ? text : time
}

function writeTime(time: Date, notation: 'time' | 'iso'): string {
  const seconds = time.toISOString().slice(0, 19)
  return notation === 'iso' ? `${seconds}Z` : seconds.replace('T', ' ')
}
