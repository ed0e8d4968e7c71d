import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import type { ErasureDependencies } from './routes/erase-lead.ts'
import { endReferral } from './workflows/erasures.ts'

interface Tools {
  client: Client
  log: Pick<Logger, 'warn'>
  erasureLog: string | undefined
}

/** What the routes of erasures work with. */
export function forErasures({ client, log, erasureLog }: Tools): ErasureDependencies {
  return {
    erasureLog,
    endReferral: (leadId) =>
      void endReferral(client, leadId).catch((err: unknown) =>
        log.warn(
          { err, lead_id: leadId },
          'the workflow of an erased lead was not told: it learns of it later',
        ),
      ),
  }
}
