import { exportedLead } from '../statements/exported-lead.ts'
import { findWholeLead } from '../../../core/leads/statements/partner-reads.ts'
import { jsonPieces } from '../../../core/values/json-pieces.ts'
import { referralId } from '../../../core/temporal/names.ts'
import type { Printed } from '../../../staff/answer.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { noSuchLead } from '../../../core/leads/commands/require-lead.ts'

/** Prints everything that is kept of a lead as one JSON document, with `--json` or without. */
export async function exportLead({ sql, ownKeys, noteRead }: StaffContext, id: number): Promise<Printed> {
  const lead = await findWholeLead({ sql, encryptionKeys: ownKeys() }, id)
  if (lead === undefined) throw noSuchLead(id)
  return {
    print: async (_, write) => {
      await noteRead({ leadId: id, what: 'lead export' })
      const parts = await exportedLead(sql, lead, { viewer: 'staff', workflowId: referralId(id) })
      for await (const piece of jsonPieces(parts)) await write(piece)
      await write('\n')
    },
  }
}
