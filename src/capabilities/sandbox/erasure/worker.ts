import type { Client } from '@temporalio/client'
import { requestErasure } from '../../erasure/statements/requests.ts'
import { createErasureStarter } from '../../erasure/workflows/erasures.ts'
import type { Sql } from '../../../core/database/orm.ts'

/** How a population has a borrower erased: as its partner would, and within the same limit. */
export function erasingMembers({ client, sql }: { client: Client; sql: Sql }) {
  const start = createErasureStarter({ client, sql })
  return {
    async eraseLead(partnerId: number, leadId: number): Promise<boolean> {
      const asked = {
        partnerId,
        leadId,
        reason: 'borrower_request',
        requestedBy: 'population',
        delayDays: 0,
      } as const
      const { kind } = await requestErasure(sql, asked)
      // if it fails, the sweep starts it
      if (kind === 'requested') await start(leadId).catch(() => undefined)
      return kind === 'requested' || kind === 'unknown'
    },
  }
}
