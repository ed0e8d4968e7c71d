import { CompiledQuery, type KyselyPlugin, type QueryId, type RootOperationNode } from 'kysely'
import type { Sql } from '../../src/database/sql.ts'

interface Plan {
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
}

/** How many pages of 8 KiB PostgreSQL reads for all statements that `work` makes, whether they are in memory or not. */
export async function buffersRead(sql: Sql, work: (sql: Sql) => Promise<unknown>): Promise<number> {
  let buffers = 0
  for (const { sql: text, parameters } of await statementsOf(sql, work)) {
    const explain = CompiledQuery.raw(`explain (analyze, buffers, format json) ${text}`, [...parameters])
    const { rows } = await sql.executeQuery<{ 'QUERY PLAN': [{ Plan: Plan }] }>(explain)
    const plan = rows[0]?.['QUERY PLAN'][0].Plan
    buffers += (plan?.['Shared Hit Blocks'] ?? Number.NaN) + (plan?.['Shared Read Blocks'] ?? Number.NaN)
  }
  return buffers
}

/** The statements that are executed; a part of one is compiled too, and has no result. */
async function statementsOf(sql: Sql, work: (sql: Sql) => Promise<unknown>): Promise<CompiledQuery[]> {
  const compiled = new Map<QueryId, RootOperationNode>()
  const executed: CompiledQuery[] = []
  const recording: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      compiled.set(queryId, node)
      return node
    },
    transformResult: async ({ result, queryId }) => {
      const node = compiled.get(queryId)
      if (node !== undefined) executed.push(sql.getExecutor().compileQuery(node, queryId))
      return result
    },
  }
  await work(sql.withPlugin(recording))
  return executed
}
