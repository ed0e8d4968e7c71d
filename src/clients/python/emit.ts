/** Writes the types and the calls of the Python client from docs/openapi.json. Every library for this needs Python. */

import type { JSONSchema } from 'json-schema-to-typescript'
import { callsOf, type Document, refName } from '../document.ts'

const HEAD = '# Generated from docs/openapi.json by npm run clients. Do not edit.\n'
const TYPES = `"""What the API takes and answers, as its reference at \`/docs\` describes it."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

OtherName: TypeAlias = Literal["a name that was added later"]
"""Any string that is not a known name: with \`str\`, a comparison with a known name would not narrow a union."""
`
const CALLS = `"""A method for each call of the API, named after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import types


class Calls:
    def _call(self, method: str, path: str, request: Any = None, keyed: bool = False, key: str | None = None) -> Any:
        raise NotImplementedError
`
const PYTHON = Object.fromEntries(
  ['null None', 'true True', 'false False', 'string str', 'boolean bool', 'integer int', 'number float'].map(
    (pair) => pair.split(' '),
  ),
) as Record<string, string>

export function emitTypes({ info, components, webhooks }: Document): string {
  const version = `API_VERSION = ${quoted(info.version)}\n"""The version of the API that this client was made for."""\n`
  const names = `WEBHOOK_TYPES = (${Object.keys(webhooks).map(quoted).join(', ')})\n"""The \`type\` of each webhook."""\n`
  const types = Object.entries(components.schemas).map(([name, schema]) => declaration(name, schema))
  return [HEAD + TYPES, version, names, ...types].join('\n')
}

export function emitCalls(document: Document): string {
  const methods = callsOf(document).map(({ name, about, method, path, request, response, keyed }) => {
    const { required = [], additionalProperties } = document.components.schemas[request ?? ''] ?? {}
    const type = additionalProperties === true ? 'Mapping[str, Any]' : `types.${request}`
    const isOptional = Array.isArray(required) && required.length === 0
    const given = request === undefined ? '' : `, request: ${type}${isOptional ? ' | None = None' : ''}`
    const key = keyed ? ', *, idempotency_key: str | None = None' : ''
    const facts = `"${method}", "${path}"${request ? ', request' : ''}${keyed ? ', True, idempotency_key' : ''}`
    const signature = `${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}(self${given}${key})`
    const body = `        answer: types.${response} = self._call(${facts})\n        return answer\n`
    return `    def ${signature} -> types.${response}:\n${docstring(about, '        ')}${body}`
  })
  return [HEAD + CALLS, ...methods].join('\n')
}

function declaration(name: string, schema: JSONSchema): string {
  const { properties = {}, required = [], description } = schema
  // names of headers are not Python identifiers
  if (schema.properties === undefined || Object.keys(properties).some((field) => field.includes('-')))
    return `${name}: TypeAlias = '${typeOf(schema)}'\n${docstring(description, '')}`
  const fields = Object.entries(properties).map(([field, each]) => {
    const isRequired = Array.isArray(required) && required.includes(field)
    const type = isRequired ? typeOf(each) : `NotRequired[${typeOf(each)}]`
    return `    ${field}: ${type}\n${docstring(each.description, '    ')}`
  })
  return `\nclass ${name}(TypedDict):\n${docstring(description, '    ')}${fields.join('') || '    pass\n'}`
}

function typeOf(schema: JSONSchema): string {
  if (schema.$ref !== undefined) return refName(schema.$ref)
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives) return [...new Set(alternatives.map(typeOf))].join(' | ')
  if (schema.enum) return `Literal[${schema.enum.map(quoted).join(', ')}]`
  if ('const' in schema) return `Literal[${quoted(schema['const'])}]`
  if (schema.type === 'string' && schema.not) return 'OtherName'
  if (schema.type === 'array') return `list[${typeOf(schema.items as JSONSchema)}]`
  const simple = [schema.type ?? ''].flat().map((type) => PYTHON[type] ?? 'Any')
  if (schema.type !== 'object') return simple.join(' | ')
  const { additionalProperties: values } = schema
  return `dict[str, ${typeof values === 'object' ? typeOf(values) : 'Any'}]`
}

const quoted = (value: unknown) =>
  typeof value === 'string' ? JSON.stringify(value) : (PYTHON[String(value)] ?? String(value))

function docstring(text: string | undefined, indent: string): string {
  if (text === undefined) return ''
  const lines = text
    .replace(/`(null|true|false)`/g, (_, name: string) => `\`${PYTHON[name]}\``)
    .replaceAll('\\', '\\\\')
    .split('\n')
  const body = lines.map((line, index) => (index > 0 && line ? indent : '') + line).join('\n')
  return `${indent}"""${body}${lines.length > 1 || body.endsWith('"') ? `\n${indent}` : ''}"""\n`
}
