import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import vm from 'node:vm'
import type { Seen } from '../../src/clients/typescript/src/index.ts'

/** The README's, for `PoolClient` of PostgreSQL or `DatabaseSync` of SQLite. */
export function seenOfReadme<Context>(context: string, database: unknown): Seen<Context> {
  const readme = readFileSync('src/clients/typescript/README.md', 'utf8')
  const examples = Array.from(readme.matchAll(/^```ts\n([^`]*)^```$/gm), ([, code = '']) => code)
  const example = examples.find((code) => code.includes(`: Seen<${context}>`)) ?? ''
  const source = `(database, pool) => { ${stripTypeScriptTypes(example)}; return seen }`
  const make = vm.runInThisContext(source) as (...args: unknown[]) => Seen<Context>
  return make(database, database)
}
