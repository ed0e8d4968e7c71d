/**
 * Writes the types of the client, and how its values look on the wire, from docs/openapi.json. The document has a small
 * grammar, and the generators of the day don't run beside TypeScript 7: so this is ours, and refuses what it doesn't know.
 */

import { renaming } from './descriptions.ts'
import { camelCase } from './src/wire.ts'

export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  format?: string
  description?: string
  not?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  discriminator?: { propertyName: string; mapping: Record<string, string> }
}

interface Operation {
  operationId: string
  description?: string
  parameters?: { name?: string; $ref?: string }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content: Record<string, { schema: Schema }> }>
}

export interface Document {
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** These are classes of errors.ts, or of no use to a caller. */
const LEFT_OUT = ['Failure', 'FieldProblem', 'Timestamp']
const HEAD = `// Generated from docs/openapi.json by npm run clients. Do not edit.
import type { OtherName } from './names.ts'
import type { Shapes } from './wire.ts'
`

function operationsOf(paths: Document['paths']) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
}

function callTypes(paths: Document['paths']): string {
  const lines = operationsOf(paths).map(({ operation }) => {
    const request = schemaOf(operation.requestBody)
    const response = schemaOf(operation.responses[200])
    return `  ${operation.operationId}: { request: ${request ?? 'undefined'}; response: ${response} }`
  })
  return `/** What each call takes and answers. */\nexport interface Calls {\n${lines.join('\n')}\n}\n`
}

function callFacts(paths: Document['paths']): string {
  const lines = operationsOf(paths).map(({ path, method, operation }) => {
    const keyed = operation.parameters?.some(({ name }) => name === 'Idempotency-Key') ?? false
    const [request, response] = [schemaOf(operation.requestBody), schemaOf(operation.responses[200])]
    const facts = [
      `method: ${quoted(method.toUpperCase())}`,
      `path: ${quoted(path)}`,
      `request: ${request === undefined ? '0' : quoted(`#${request}`)}`,
      `response: ${quoted(`#${response}`)}`,
      `keyed: ${keyed}`,
    ]
    return `  ${operation.operationId}: { ${facts.join(', ')} },`
  })
  return `/** \`keyed\`: takes an Idempotency-Key. */\nexport const calls = {\n${lines.join('\n')}\n} as const\n`
}

function schemaOf(content: { content: Record<string, { schema: Schema }> } | undefined): string | undefined {
  const ref = content?.content['application/json']?.schema.$ref
  return ref === undefined ? undefined : refName(ref)
}

export function emit({ info, paths, components }: Document): string {
  const inClientNames = renaming(paths, components.schemas)
  const schemas = Object.entries(components.schemas)
    .filter(([name]) => !LEFT_OUT.includes(name))
    .map(([name, schema]) => [name, inClientNames(schema)] as const)
  return [
    HEAD,
    `/** The version of the API that this client was made for. */\nexport const API_VERSION = ${quoted(info.version)}\n`,
    ...schemas.map(([name, schema]) => declaration(name, schema)),
    callTypes(paths),
    callFacts(paths),
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
  // a partner’s own fields
  if (schema.additionalProperties === true) lines.push(`${inner}[field: string]: unknown`)
  return `{\n${lines.join('\n')}\n${indent}}`
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

const isAnyString = (schema: Schema) =>
  schema.type === 'string' && schema.enum === undefined && schema.const === undefined

function isTime(schema: Schema): boolean {
  return schema.$ref === '#/components/schemas/Timestamp' || schema.format === 'date-time'
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
    return `{ fields: { ${fields.join(', ')} } }`
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
const refName = (ref: string) => ref.replace('#/components/schemas/', '')
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
