/** Writes which calls there are, and how values look on the wire, from docs/openapi.json. */

import { type Call, callsOf, type Document, isTime, refName, type Schema } from './document.ts'
import { answered, HEAD, isClass, type Named, quoted } from './answers.ts'

export function emitCalls({ paths, components }: Document): string {
  const calls = callsOf(paths)
  const schemas = answered(calls, components.schemas)
  const unions = schemas.filter(([, { discriminator }]) => discriminator !== undefined)
  const shapes = schemas.filter(isClass).flatMap((each) => shapeOfClass(each, schemas))
  return [
    `${HEAD}"""Which calls there are, and what has to be converted in their answers."""\n`,
    `from . import types\nfrom ._shapes import ISO, REST, TIME, Call, ListOf, OneOf, Shape\n`,
    unions.map(([name, schema]) => `${constant(name)} = ${oneOfShape(schema)}\n`).join(''),
    `SHAPES: dict[type, dict[str, Shape]] = {\n${shapes.join('')}}\n`,
    calls.map(callLine).join(''),
  ].join('\n')
}

/** The fields that are not as they came. */
function shapeOfClass([name, schema]: Named, schemas: readonly Named[]): string[] {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([field, each]) => {
    const shape = shapeOf(each, schemas)
    return shape === undefined ? [] : [`${quoted(field)}: ${shape}`]
  })
  if (schema.additionalProperties === true) fields.push('"metadata": REST')
  return fields.length === 0 ? [] : [`    types.${name}: {${fields.join(', ')}},\n`]
}

function shapeOf(schema: Schema, schemas: readonly Named[]): string | undefined {
  if (schema.format === 'date-time') return 'ISO'
  if (isTime(schema)) return 'TIME'
  if (schema.$ref !== undefined) {
    const name = refName(schema.$ref)
    const target = schemas.find(([other]) => other === name)
    if (target !== undefined && isClass(target)) return `types.${name}`
    return target?.[1].discriminator === undefined ? undefined : constant(name)
  }
  const alternatives = (schema.anyOf ?? schema.oneOf ?? []).flatMap((each) => shapeOf(each, schemas) ?? [])
  if (alternatives.length > 1) throw new Error(`nothing tells these apart: ${alternatives.join(', ')}`)
  if (alternatives.length === 1) return alternatives[0]
  const item = schema.items && shapeOf(schema.items, schemas)
  return item === undefined ? undefined : `ListOf(${item})`
}

function oneOfShape({ oneOf: alternatives = [], discriminator }: Schema): string {
  const { propertyName = '', mapping = {} } = discriminator ?? {}
  const kinds = Object.entries(mapping).map(([kind, ref]) => `    ${quoted(kind)}: types.${refName(ref)},\n`)
  const other = alternatives.find(({ $ref = '' }) => !Object.values(mapping).includes($ref))?.$ref
  return `OneOf(${quoted(propertyName)}, {\n${kinds.join('')}}, ${other ? `types.${refName(other)}` : 'None'})`
}

function callLine({ name, method, path, response, keyed }: Call): string {
  const facts = [quoted(method), quoted(path), `types.${response}`, ...(keyed ? ['keyed=True'] : [])]
  return `${constant(name)} = Call(${facts.join(', ')})\n`
}

const constant = (name: string) => name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()
