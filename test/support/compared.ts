import type { Sql } from '../../src/core/database/orm.ts'
import { until } from './until.ts'

/**
 * Resolves once all leads were compared with their workflows so many times. Each worker does so when it starts, and starts
 * what has no workflow.
 */
export const hasCompared = (sql: Sql, times: number) =>
  until(() =>
    sql
      .selectFrom('leases')
      .select('token')
      .where('name', '=', 'comparison')
      .where('token', '=', times)
      .where('until', 'is', null)
      .executeTakeFirst(),
  )
