import type { Sql } from '../../core/database/orm.ts'

/** For npm start, whose API may have another port than before: sinks move with it. Loaded once PostgreSQL starts. */
export async function loadMoveSinks() {
  const { moveSinks } = await import('./statements/sinks.ts')
  return (sql: Sql, { apiUrl }: { apiUrl: string }) => moveSinks(sql, apiUrl)
}
