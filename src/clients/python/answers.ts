/** What the API answers, and the names that it gets in Python. */

import { type Call, type Document, refName, type Schema } from './document.ts'

export const HEAD = '# Generated from docs/openapi.json by npm run clients. Do not edit.\n'

export type Named = readonly [name: string, schema: Schema]

/** All that a response or a webhook can hold; an object without a name of its own gets one. */
export function answered(calls: readonly Call[], schemas: Document['components']['schemas']): Named[] {
  const found = new Map<string, Schema>()
  const add = (name: string, schema: Schema) => {
    if (found.has(name) || name === 'Timestamp') return
    const nested: Named[] = []
    found.set(name, withoutInline(name, schema, nested))
    for (const each of nested) add(...each)
    for (const ref of refsOf(found.get(name))) if (schemas[ref] !== undefined) add(ref, schemas[ref])
  }
  for (const name of [...calls.map(({ response }) => response), 'WebhookEvent'])
    add(name, schemas[name] ?? {})
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function withoutInline(name: string, schema: Schema, nested: Named[]): Schema {
  if (schema.properties === undefined) return schema
  const properties: [string, Schema][] = Object.entries(schema.properties)
    .filter(([, each]) => each.const !== true) // `success`
    .map(([property, each]) => {
      if (each.properties === undefined) return [property, each]
      const own = `${name}${pascal(property)}`
      nested.push([own, each])
      return [property, { $ref: own, ...(each.description && { description: each.description }) }]
    })
  return { ...schema, properties: Object.fromEntries(properties) }
}

export function refsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) =>
    name === '$ref' ? [refName(String(each))] : refsOf(each),
  )
}

/** Names of headers are no names of Python: an object that has them is a dict. */
export function isClass([, { properties }]: Named): boolean {
  return properties !== undefined && Object.keys(properties).every((name) => /^[a-z]\w*$/.test(name))
}

export const pascal = (name: string) =>
  name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
export const quoted = (value: unknown) => JSON.stringify(value)
