import type { Client } from '@temporalio/client'
import type { Swept } from '../../core/temporal/sweep.ts'
import { openRestores } from './statements/restores.ts'
import { createRestoreStarter } from './workflows/restores.ts'

/** Restores of the record that leads and partners are not told of yet. */
export const restoresLeftOut = (client: Client): Swept => ({
  failure: 'cannot start what follows a restore; trying again every minute',
  idName: 'generation',
  find: openRestores,
  start: createRestoreStarter(client),
})
