import type { Client } from '@temporalio/client'
import type { Sql } from '../../core/database/orm.ts'
import type { Chore, Swept } from '../../core/temporal/sweep.ts'
import { noteAlive, openRestores } from './statements/restores.ts'
import { createRestoreStarter } from './workflows/restores.ts'

/** Restores of the record that leads and partners are not told of yet. */
export const restoresLeftOut = (client: Client): Swept => ({
  what: 'what follows a restore',
  idName: 'generation',
  find: openRestores,
  start: createRestoreStarter(client),
})

/** Notes that this record is in use: after a restore, it says since when events may be lost. */
export const aliveNote =
  (sql: Sql): Chore =>
  () =>
    noteAlive(sql)
