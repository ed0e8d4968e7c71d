import type { KyselyPlugin } from 'kysely'
import type { Sql } from '../../src/database/sql.ts'

/** The connection of a process that dies before its `last`th statement: each from there on throws. */
export function dyingBefore(sql: Sql, last: number): { sql: Sql; hasDied: () => boolean } {
  let statements = 0
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      statements += 1
      if (statements >= last) throw new Error('the process died')
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return { sql: sql.withPlugin(plugin), hasDied: () => statements >= last }
}
