import {
  camelCase,
  json,
  linesOf,
  type Notation,
  python,
  snakeCase,
  typeScript,
  write,
  writeLines,
} from './literals.ts'

/** How the clients for lenders make a call. */
export interface ClientCall {
  /** In TypeScript; the Python client has the same names in snake_case. */
  call: string
  /**
   * Fields of the request that are arguments of their own, in their order. The others are one object in TypeScript, and
   * keyword arguments in Python.
   */
  positional?: readonly string[]
  /** The other fields are one object in Python, too: the partner has names of its own among them. */
  open?: boolean
  /** What the result is named, or one of its items. Absent if the call returns nothing. */
  result?: string
  /** Fields of the result that the sample prints; the whole of it if there are none. */
  prints?: readonly string[]
  /** Whether it returns items: all at once, or page by page. */
  items?: 'together' | 'in pages'
  /** Whether the sample gives an Idempotency-Key. The clients make one themselves if it does not. */
  ownKey?: boolean
}

export interface SampledCall extends ClientCall {
  method: string
  path: string
  /** What samples send: the first example of the request. */
  body: object | undefined
  idempotencyKey: string | undefined
}

const WIDTH = 80

/** What the reference shows of a call, in the order in which it offers them. */
export const samplesOf = (call: SampledCall) => [
  { lang: 'TypeScript', label: 'TypeScript', source: inTypeScript(call) },
  { lang: 'Python', label: 'Python', source: inPython(call) },
  { lang: 'Shell', label: 'curl', source: inShell(call) },
]

function inTypeScript(call: SampledCall): string {
  const { result = '', prints = [], items, idempotencyKey: key } = call
  const options = call.ownKey === true ? [write({ idempotencyKey: key }, typeScript)] : []
  const asked = (before: string, after = '') =>
    invoke([`${before}referrals.${call.call}`, after], argumentsOf(call, options, typeScript), typeScript)
  const print = `console.log(${prints.map((field) => `${result}.${camelCase(field)}`).join(', ') || result})`
  const each = `  ${print}\n}`
  const statements = {
    nothing: [asked('await ')],
    one: [asked(`const ${result} = await `), print],
    together: [asked(`for (const ${result} of await `, ') {'), each],
    'in pages': [asked(`for await (const ${result} of `, ') {'), each],
  }[kindOf(result, items)]
  return `import { Referrals } from 'partner-referrals'

const { API = '', KEY = '' } = process.env
const referrals = new Referrals({ apiKey: KEY, baseUrl: API })

${statements.join('\n')}`
}

function inPython(call: SampledCall): string {
  const { result = '', prints = [], items, idempotencyKey: key } = call
  const options = call.ownKey === true ? [`idempotency_key=${write(key, python)}`] : []
  const asked = (before: string, after = '') =>
    invoke([`${before}referrals.${snakeCase(call.call)}`, after], argumentsOf(call, options, python), python)
  const print = `print(${prints.map((field) => `${result}.${field}`).join(', ') || result})`
  const loop = [asked(`for ${result} in `, ':'), `    ${print}`]
  const statements = {
    nothing: [asked('')],
    one: [asked(`${result} = `), print],
    together: loop,
    'in pages': loop,
  }[kindOf(result, items)]
  return `import os

from partner_referrals import Referrals

referrals = Referrals(api_key=os.environ["KEY"], base_url=os.environ["API"])

${statements.join('\n')}`
}

function inShell({ method, path, body = {}, idempotencyKey }: SampledCall): string {
  const key = '-H "Authorization: Service-Key $KEY"'
  if (method === 'get') return `curl $API${path} ${key}`
  const line = write(body, json)
  const sent = line.length > WIDTH - 10 ? writeLines(body, json) : line
  return [
    `curl $API${path}`,
    key,
    "-H 'Content-Type: application/json'",
    ...(idempotencyKey === undefined ? [] : [`-H 'Idempotency-Key: ${idempotencyKey}'`]),
    `-d '${sent.replaceAll("'", String.raw`'\''`)}'`,
  ].join(' \\\n  ')
}

const kindOf = (result: string, items: ClientCall['items']) => items ?? (result === '' ? 'nothing' : 'one')

interface Arguments {
  first: readonly string[]
  /** The other fields, if they are one object. */
  object: object | undefined
  last: readonly string[]
}

function argumentsOf(
  { positional = [], body = {}, open = false }: SampledCall,
  options: readonly string[],
  notation: Notation,
): Arguments {
  const fields = Object.entries(body)
  const first = positional.map((field) => write(new Map<string, unknown>(fields).get(field), notation))
  const others = fields.filter(([field]) => !positional.includes(field))
  if (others.length === 0) return { first, object: undefined, last: options }
  if (notation === typeScript || open) return { first, object: Object.fromEntries(others), last: options }
  const named = others.map(([field, value]) => `${field}=${write(value, notation)}`)
  return { first, object: undefined, last: [...named, ...options] }
}

/** A call with its arguments, over several lines if one is too short. */
function invoke(
  [name, after]: readonly [string, string],
  { first, object, last }: Arguments,
  notation: Notation,
): string {
  const given = (written: readonly string[]) => [...first, ...written, ...last]
  const end = `)${after}`
  const line = `${name}(${given(object ? [write(object, notation)] : []).join(', ')}${end}`
  if (line.length <= WIDTH) return line
  const lines = given(object ? [writeLines(object, notation)] : [])
  if (object && last.length === 0) return `${name}(${lines.join(', ')}${end}`
  return `${name}(\n${linesOf(lines, notation)}\n${end}`
}
