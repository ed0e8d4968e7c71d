/** Writes the types of the Python client from docs/openapi.json. */

import { type Call, callsOf, type Document, isTime, refName, type Schema } from './document.ts'
import { answered, HEAD, isClass, type Named, pascal, quoted, refsOf } from './answers.ts'

/** What callers pass as a dict. All other requests are arguments of methods. */
const INPUTS = ['CreateLeadRequest', 'EventToSimulate', 'ScoreGains']
const IMPORTS = `"""What the API takes and answers, as its reference at \`/docs\` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Callable, Literal, TypeAlias, TypedDict

from ._names import OtherName, Placed
`

export function emitTypes({ info, paths, components }: Document): string {
  const calls = callsOf(paths)
  const schemas = answered(calls, components.schemas)
  const unions = schemas.filter(([, { oneOf }]) => oneOf !== undefined)
  return [
    HEAD + IMPORTS,
    `API_VERSION = ${quoted(info.version)}\n"""The version of the API that this client was made for."""\n`,
    ...namesOf(calls, components.schemas, schemas),
    ...schemas.filter(isClass).map(dataclass),
    ...INPUTS.map((name) => typedDict(name, components.schemas[name] ?? {})),
    ...unions.map(([name, schema]) => alias(name, typeOf(schema), schema.description)),
    ...handlers(components.schemas.WebhookEvent ?? {}),
  ].join('\n')
}

/** Choices and maps: those of answers, and those that a request offers in place. */
function namesOf(calls: readonly Call[], all: Document['components']['schemas'], schemas: readonly Named[]) {
  const answers = schemas.filter((each) => !isClass(each) && each[1].oneOf === undefined)
  const requests = calls.map(({ request }) => request).filter((name) => name !== undefined)
  const offered = requests.flatMap((request) =>
    Object.entries(all[request]?.properties ?? {}).flatMap(([name, each]): Named[] => {
      const schema = [each, each.items, ...(each.anyOf ?? [])].find((one) => one?.enum !== undefined)
      return schema === undefined ? [] : [[`${request.replace(/Request$/, '')}${pascal(name)}`, schema]]
    }),
  )
  const referred = refsOf(requests.map((name) => all[name]))
    .filter((name) => all[name]?.enum !== undefined && !answers.some(([other]) => other === name))
    .map((name): Named => [name, all[name] ?? {}])
  const names = new Map([...answers, ...referred, ...offered])
  return [...names].map(([name, schema]) => alias(name, aliased(schema), schema.description))
}

const aliased = (schema: Schema) => (schema.properties ? 'dict[str, str]' : typeOf(schema))

function alias(name: string, type: string, description: string | undefined): string {
  const parts = type.split(' | ')
  const value = type.length < 100 ? type : `(\n    ${parts.join('\n    | ')}\n)`
  return `${name}: TypeAlias = ${value}\n${docstring(description, '')}`
}

function dataclass([name, schema]: Named): string {
  const { properties = {}, required = [] } = schema
  const fields = Object.entries(properties).map(([field, each]) => {
    const type = required.includes(field) ? typeOf(each) : `${optional(typeOf(each))} = None`
    return `    ${field}: ${type}\n${docstring(each.description, '    ')}`
  })
  if (schema.additionalProperties === true)
    fields.push('    metadata: dict[str, Any]\n    """Your own fields, and those that were added later."""\n')
  const base = 'cursor' in properties ? '(Placed)' : ''
  const body = `${docstring(schema.description, '    ')}${fields.join('')}` || '    pass\n'
  return `\n@dataclass(frozen=True, kw_only=True)\nclass ${name}${base}:\n${body}`
}

/** In two classes, because Python has \`Required\` only since 3.11. */
function typedDict(name: string, schema: Schema): string {
  const { properties = {}, required = [] } = schema
  const lines = (isRequired: boolean) =>
    Object.entries(properties)
      .filter(([field]) => required.includes(field) === isRequired)
      .map(([field, each]) => {
        const type = typeOf(each).replace(/\bScoreGains\b/, inputName('ScoreGains'))
        return `    ${field}: ${type}\n${docstring(each.description, '    ')}`
      })
      .join('')
  const own = inputName(name)
  const [always, sometimes] = [lines(true), lines(false)]
  const doc = docstring(schema.description, '    ')
  if (sometimes === '') return `\nclass ${own}(TypedDict):\n${doc}${always}`
  if (always === '') return `\nclass ${own}(TypedDict, total=False):\n${doc}${sometimes}`
  return `\nclass _${own}(TypedDict):\n${always}\n\nclass ${own}(_${own}, total=False):\n${doc}${sometimes}`
}

/** An answer may have the same name. */
const inputName = (name: string) => (name.endsWith('Request') ? name : `${name}Input`)

function handlers({ discriminator }: Schema): string[] {
  const kinds = Object.entries(discriminator?.mapping ?? {})
  return ['', ', Any'].map((context) => {
    const name = context === '' ? 'Handlers' : 'ContextHandlers'
    const lines = kinds.map(
      ([kind, ref]) => `        ${quoted(kind)}: Callable[[${refName(ref)}${context}], object],\n`,
    )
    const second = context === '' ? '' : ', with what `Seen.once` hands over as second argument'
    const doc = `"""What to call for each type of webhook${second}."""\n`
    return `${name} = TypedDict(\n    ${quoted(name)},\n    {\n${lines.join('')}    },\n    total=False,\n)\n${doc}`
  })
}

function typeOf(schema: Schema): string {
  if (isTime(schema)) return 'datetime'
  if (schema.$ref !== undefined) return refName(schema.$ref)
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives !== undefined) return unionOf(alternatives.map(typeOf))
  if (schema.const !== undefined) return `Literal[${quoted(schema.const)}]`
  if (schema.enum !== undefined) return `Literal[${schema.enum.map(quoted).join(', ')}]`
  if (schema.type === undefined) return 'Any'
  return unionOf([schema.type].flat().map((type) => simpleType(type, schema)))
}

const SIMPLE: Readonly<Record<string, string>> = {
  string: 'str',
  boolean: 'bool',
  null: 'None',
  integer: 'int',
  number: 'float',
}

function simpleType(type: string, { not, items, properties, additionalProperties }: Schema): string {
  if (type === 'string' && not !== undefined) return 'OtherName'
  if (type === 'array') return `list[${typeOf(items ?? {})}]`
  const simple = SIMPLE[type]
  if (simple !== undefined) return simple
  if (type !== 'object' || Object.keys(properties ?? {}).length > 0)
    throw new Error(`no name for this type in the document: ${type}`)
  return `dict[str, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'Any'}]`
}

const unionOf = (types: readonly string[]) => [...new Set(types)].join(' | ')
const optional = (type: string) => (/\bNone$/.test(type) ? type : `${type} | None`)

function docstring(text: string | undefined, indent: string): string {
  if (text === undefined) return ''
  const safe = pythonic(text).replaceAll('\\', '\\\\').replaceAll('"""', "'''").replace(/"$/, '" ')
  const lines = safe.split('\n').map((line, index) => (index === 0 ? line : `${indent}${line}`).trimEnd())
  return `${indent}"""${lines.join('\n')}${lines.length > 1 ? `\n${indent}` : ''}"""\n`
}

/** The document speaks of JSON. */
function pythonic(text: string): string {
  return text.replaceAll('`null`', '`None`').replaceAll('`true`', '`True`').replaceAll('`false`', '`False`')
}
