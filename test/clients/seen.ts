import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import vm from 'node:vm'
import type { Pool, PoolClient } from 'pg'
import type { Seen } from '../../src/clients/typescript/src/index.ts'

/** The README's, for PostgreSQL. */
export function seenOfReadme(pool: Pool): Seen<PoolClient> {
  const readme = readFileSync('src/clients/typescript/README.md', 'utf8')
  const [, example = ''] = /^```ts\n([^`]*const seen:[^`]*)^```$/m.exec(readme) ?? []
  const make = vm.runInThisContext(`(pool) => { ${stripTypeScriptTypes(example)}; return seen }`) as (
    of: Pool,
  ) => Seen<PoolClient>
  return make(pool)
}
