/** Writes the types of the client, and how its values look on the wire, from docs/openapi.json. */

import { type Call, callsOf, type Document, isAnyString, isTime, refName, type Schema } from '../document.ts'
import { renaming } from './descriptions.ts'
import { camelCase } from './src/wire.ts'

/** Beside what document.ts has: names that a request’s own fields must not have. */
interface WithNames extends Schema {
  propertyNames?: { not?: { enum: string[] } }
}

/** These are classes of errors.ts, or of no use to a caller. */
const LEFT_OUT = ['Failure', 'FieldProblem', 'Timestamp']
const HEAD = `// Generated from docs/openapi.json by npm run clients. Do not edit.
import type { OtherName } from './names.ts'
import type { Shapes } from './wire.ts'
`

function callTypes(calls: readonly Call[]): string {
  const lines = calls.map(
    ({ name, request, response }) =>
      `  ${name}: { request: ${request ?? 'undefined'}; response: ${response} }`,
  )
  return `/** What each call takes and answers. */\nexport interface Calls {\n${lines.join('\n')}\n}\n`
}

function callFacts(calls: readonly Call[]): string {
  const lines = calls.map(({ name, path, method, request, response, keyed }) => {
    const facts = [
      `method: ${quoted(method)}`,
      `path: ${quoted(path)}`,
      `request: ${request === undefined ? '0' : quoted(`#${request}`)}`,
      `response: ${quoted(`#${response}`)}`,
      `keyed: ${keyed}`,
    ]
    return `  ${name}: { ${facts.join(', ')} },`
  })
  return `/** \`keyed\`: takes an Idempotency-Key. */\nexport const calls = {\n${lines.join('\n')}\n} as const\n`
}

export function emit({ info, paths, components }: Document): string {
  const calls = callsOf(paths)
  const inClientNames = renaming(paths, components.schemas)
  const schemas = Object.entries(components.schemas)
    .filter(([name]) => !LEFT_OUT.includes(name))
    .map(([name, schema]) => [name, inClientNames(schema)] as const)
  return [
    HEAD,
    `/** The version of the API that this client was made for. */\nexport const API_VERSION = ${quoted(info.version)}\n`,
    ...schemas.map(([name, schema]) => declaration(name, schema)),
    callTypes(calls),
    callFacts(calls),
    `/** What each object has on the wire: names that are not listed are the partner’s own. */`,
    `export const shapes: Shapes = {\n${schemas.flatMap(([name, schema]) => shapeLine(name, schema)).join('\n')}\n}\n`,
  ].join('\n')
}

function declaration(name: string, schema: Schema): string {
  const doc = comment(schema.description, '')
  const isObject = Object.keys(schema.properties ?? {}).length > 0
  return isObject
    ? `${doc}export interface ${name} ${objectType(schema, '')}\n`
    : `${doc}export type ${name} = ${typeOf(schema, '')}\n`
}

function objectType(schema: Schema, indent: string): string {
  const inner = `${indent}  `
  const required = schema.required ?? []
  const lines = Object.entries(schema.properties ?? {}).map(([name, each]) => {
    const doc = comment(each.description, inner)
    return `${doc}${inner}${property(camelCase(name))}${required.includes(name) ? '' : '?'}: ${typeOf(each, inner)}`
  })
  for (const name of refusedNames(schema)) lines.push(`${inner}${property(camelCase(name))}?: never`)
  // a partner’s own fields
  if (schema.additionalProperties === true) lines.push(`${inner}[field: string]: unknown`)
  return `{\n${lines.join('\n')}\n${indent}}`
}

/**
 * Names that the API refuses beside the partner’s own fields. In the client’s notation they would be such fields, and be
 * stored: so they are known, and sent as the API refuses them.
 */
function refusedNames({ propertyNames }: WithNames): string[] {
  // this one is the same in both notations, and no name for a type
  return propertyNames?.not?.enum.filter((name) => name !== '__proto__') ?? []
}

function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return isTime(schema) ? 'Date' : refName(schema.$ref)
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives !== undefined) return unionOf(alternatives, indent)
  if ('const' in schema) return quoted(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(quoted).join(' | ')
  if (schema.type === undefined) return 'unknown'
  return [schema.type]
    .flat()
    .map((type) => simpleType(type, schema, indent))
    .join(' | ')
}

function simpleType(type: string, schema: Schema, indent: string): string {
  if (type === 'string' && schema.not !== undefined) return 'OtherName'
  if (isTime(schema)) return 'Date'
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'array') return `${inBrackets(typeOf(schema.items ?? {}, indent))}[]`
  if (type !== 'object') throw new Error(`an unknown type in the document: ${type}`)
  if (Object.keys(schema.properties ?? {}).length > 0) return objectType(schema, indent)
  if (schema.properties !== undefined) return 'Record<string, never>'
  const { additionalProperties: values = {} } = schema
  return `Record<string, ${typeof values === 'boolean' ? 'unknown' : typeOf(values, indent)}>`
}

/** Known names and any other: editors still offer the known ones. */
function unionOf(alternatives: readonly Schema[], indent: string): string {
  const isOpen = alternatives.some((each) => each.enum !== undefined) && alternatives.some(isAnyString)
  const types = alternatives.map((each) =>
    isOpen && isAnyString(each) ? '(string & {})' : typeOf(each, indent),
  )
  return [...new Set(types)].join(' | ')
}

function shapeLine(name: string, schema: Schema): string[] {
  const shape = shapeOf(schema)
  return shape === '0' ? [] : [`  ${name}: ${shape},`]
}

/** As wire.ts reads it: 0 is a value as it is. */
function shapeOf(schema: Schema): string {
  if (schema.format === 'date-time') return quoted('iso')
  if (isTime(schema)) return quoted('time')
  if (schema.$ref !== undefined) return quoted(`#${refName(schema.$ref)}`)
  if (schema.discriminator !== undefined) return kindsShape(schema, schema.discriminator)
  const alternatives = (schema.anyOf ?? schema.oneOf)?.map(shapeOf).filter((shape) => shape !== '0')
  if (alternatives !== undefined) {
    if (alternatives.length > 1) throw new Error(`nothing tells these apart: ${alternatives.join(', ')}`)
    return alternatives[0] ?? '0'
  }
  if (schema.items !== undefined) return listOf('list', shapeOf(schema.items))
  if (schema.properties !== undefined) {
    const fields = Object.entries(schema.properties).map(
      ([name, each]) => `${property(name)}: ${shapeOf(each)}`,
    )
    const refused = refusedNames(schema).map((name) => `${property(name)}: 0`)
    return `{ fields: { ${[...fields, ...refused].join(', ')} } }`
  }
  return typeof schema.additionalProperties === 'object'
    ? listOf('map', shapeOf(schema.additionalProperties))
    : '0'
}

function kindsShape(
  { oneOf = [] }: Schema,
  { propertyName, mapping }: NonNullable<Schema['discriminator']>,
): string {
  const known = Object.entries(mapping).map(([kind, ref]) => `${quoted(kind)}: ${quoted(`#${refName(ref)}`)}`)
  const other = oneOf.find(({ $ref = '' }) => !Object.values(mapping).includes($ref))
  return `{ by: ${quoted(propertyName)}, kinds: { ${known.join(', ')} }, other: ${other ? shapeOf(other) : '0'} }`
}

const listOf = (kind: string, shape: string) => (shape === '0' ? '0' : `{ ${kind}: ${shape} }`)

/** Names of headers have hyphens. */
const property = (name: string) => (/^\w+$/.test(name) ? name : quoted(name))
const inBrackets = (type: string) => (/[ |&]/.test(type) ? `(${type})` : type)

function quoted(value: unknown): string {
  return typeof value === 'string'
    ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    : String(value)
}

function comment(text: string | undefined, indent: string): string {
  if (text === undefined) return ''
  const lines = text.replaceAll('*/', '* /').split('\n')
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */\n`].join(
    '\n',
  )
}
