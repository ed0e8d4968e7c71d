import { refTo } from './json-schema.ts'

interface Document {
  components: { schemas: Record<string, object> }
}

/**
 * The type provider makes two of each named schema: `Lead` for responses, `LeadInput` for requests. Keeps those that
 * are referred to, here or in `always`, and names both `Lead`.
 */
export function keepUsedSchemas<Found extends Document>(document: Found, always: readonly string[]): Found {
  const { schemas, ...others } = document.components
  const used = usedIn([{ ...document, components: others }, always.map(refTo)], schemas)
  const kept = new Map<string, string>()
  for (const id of [...used].toSorted()) {
    const name = withoutSuffix(id)
    const text = withoutSuffixes(JSON.stringify(schemas[id]))
    if ((kept.get(name) ?? text) !== text) throw new Error(`${name} differs between requests and responses`)
    kept.set(name, text)
  }
  const named = Array.from(kept, ([name, text]) => [name, JSON.parse(text) as object] as const)
  const all = { ...document, components: { ...others, schemas: Object.fromEntries(named) } }
  return JSON.parse(withoutSuffixes(JSON.stringify(all))) as Found
}

/** The names of all schemas that `parts` refer to, and those that these refer to. */
function usedIn(parts: unknown, schemas: Record<string, object>, found = new Set<string>()): Set<string> {
  for (const [, id = ''] of JSON.stringify(parts).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (found.has(id)) continue
    const schema = schemas[id]
    if (schema === undefined) throw new Error(`there is no schema ${id}`)
    usedIn(schema, schemas, found.add(id))
  }
  return found
}

const withoutSuffix = (id: string) => id.replace(/Input$/, '')

const withoutSuffixes = (text: string) => text.replaceAll(/("#\/components\/schemas\/\w+)Input"/g, '$1"')
