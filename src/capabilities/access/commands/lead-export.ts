import type { Command } from 'commander'
import { exportedLead } from '../statements/exported-lead.ts'
import { findWholeLead } from '../../../core/leads/statements/partner-reads.ts'
import { jsonPieces } from '../../../core/values/json-pieces.ts'
import { referralId } from '../../../core/temporal/names.ts'
import type { Printed } from '../../../staff/answer.ts'
import { leadId } from '../../../staff/arguments.ts'
import type { Run, StaffContext } from '../../../staff/context.ts'
import { nounOf } from '../../../staff/noun.ts'
import { noSuchLead } from '../../../core/leads/commands/require-lead.ts'

export function addLeadExport(program: Command, run: Run): void {
  nounOf(program, 'lead')
    .command('export')
    .argument('<lead>', 'its id', leadId)
    .description('everything that is kept of a borrower, as JSON')
    .action(run(exportLead))
}

/** Prints everything that is kept of a lead as one JSON document, with `--json` or without. */
export async function exportLead({ sql, ownKeys, recordLook }: StaffContext, id: number): Promise<Printed> {
  const lead = await findWholeLead({ sql, encryptionKeys: ownKeys() }, id)
  if (lead === undefined) throw noSuchLead(id)
  return {
    print: async (_, write) => {
      await recordLook({ action: 'lead.export', leadId: id, partnerId: lead.partner_id })
      const parts = await exportedLead(sql, lead, { viewer: 'staff', workflowId: referralId(id) })
      for await (const piece of jsonPieces(parts)) await write(piece)
      await write('\n')
    },
  }
}
