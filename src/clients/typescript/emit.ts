/** Writes the types and the calls of the client from docs/openapi.json. */

import { compile, type JSONSchema } from 'json-schema-to-typescript'
import * as prettier from 'prettier'
import { callsOf, type Document, refName } from '../document.ts'

const HEAD = `// Generated from docs/openapi.json by npm run clients. Do not edit.

/**
 * A name that was added after this client was made: at run time, any string. It is a type of its own, so that a comparison
 * with a known name narrows a union; with \`string\`, it would not.
 */
export declare enum OtherName {
  any = 'any that is not known',
}
`

const OPTIONS = { bannerComment: '', additionalProperties: false, format: false, ignoreMinAndMaxItems: true }

export async function emit(document: Document, file: string): Promise<string> {
  const types: string[] = []
  for (const [name, schema] of Object.entries(document.components.schemas))
    types.push(await compile(withNames(schema), name, OPTIONS))
  const calls = callsOf(document)
  const signatures = calls.map(
    ({ name, about, request = 'Record<string, never>', response }) =>
      `/** ${about.replaceAll('*/', '* /')} */\n${name}: { request: ${request}; response: ${response} }`,
  )
  const facts = calls.map(
    ({ name, method, path, keyed }) => `${name}: { method: '${method}', path: '${path}', keyed: ${keyed} },`,
  )
  const parts = [
    HEAD,
    `/** The version of the API that this client was made for. */\nexport const API_VERSION = '${document.info.version}'`,
    `/** The \`type\` of each webhook. */\nexport const webhookTypes = ${JSON.stringify(Object.keys(document.webhooks))} as const`,
    ...types,
    `/** What each call takes and answers. */\nexport interface Calls {\n${signatures.join('\n')}\n}`,
    `/** \`keyed\`: takes an Idempotency-Key. */\nexport const calls = {\n${facts.join('\n')}\n} as const`,
  ]
  return prettier.format(parts.join('\n\n'), { ...(await prettier.resolveConfig(file)), filepath: file })
}

/** Schemas with the types that the library is to write in their place. */
function withNames(schema: JSONSchema): JSONSchema {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value
    const { $ref, ...each } = value as JSONSchema
    // with a description beside it, the library would write the type once more
    if ($ref !== undefined) return { ...each, tsType: refName($ref) }
    if (each.type === 'string' && each.not !== undefined) return { ...each, tsType: 'OtherName' }
    // known names and any other: editors still offer the known ones
    if (each.anyOf?.some((one) => one.enum))
      return {
        ...each,
        anyOf: each.anyOf.map((one) => (isAnyString(one) ? { tsType: '(string & {})' } : one)),
      }
    return value
  }) as JSONSchema
}

const isAnyString = (schema: JSONSchema) => schema.type === 'string' && !schema.enum && !schema.tsType
