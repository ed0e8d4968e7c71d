import type { Command } from 'commander'
import { z } from 'zod'
import { addPartner, findPartner, listPartners } from '../db/partners/partner.ts'
import type { Sql } from '../db/orm.ts'
import { type Answer, printable, table } from './answer.ts'
import type { StaffContext, Run } from './context.ts'
import { Refusal } from './refusal.ts'

const NAME = /^[^\p{Cc}]{1,100}$/u

export function addPartnerCommands(program: Command, run: Run): void {
  const partner = program
    .command('partner')
    .description('lenders that refer borrowers')
    .addHelpText(
      'after',
      '\nExample:\n  npm run staff -- partner add "First Lender" --contact tech@lender.example',
    )
  partner
    .command('add')
    .description('add a partner; its key and endpoint come next')
    .argument('<name>', 'what staff and borrowers know it by')
    .option('--contact <email>', 'who hears about webhooks that fail')
    .action(run(add))
  partner.command('list').description('all partners').action(run(list))
}

export async function add(
  context: StaffContext,
  text: string,
  { contact }: { contact?: string },
): Promise<Answer> {
  const name = text.trim()
  if (!NAME.test(name)) throw new Refusal('A partner’s name has 1 to 100 characters and no line breaks.')
  if (contact !== undefined && !z.email().max(254).safeParse(contact).success) {
    throw new Refusal(
      `--contact ${printable(contact)} is not an e-mail address: it looks like tech@lender.example.`,
    )
  }
  const { id } = await context.change(async ({ em, audit }) => {
    const partner = await addPartner(em, { name, ...(contact !== undefined && { contactEmail: contact }) })
    await audit({ action: 'partner.add', partnerId: partner.id })
    return partner
  })
  return {
    json: { partner_id: id, name, contact_email: contact ?? null },
    text: [
      `Added partner ${id}, ${name}. Next:`,
      `  npm run staff -- key issue ${id}`,
      `  npm run staff -- endpoint set ${id} https://…`,
    ].join('\n'),
  }
}

async function list({ sql }: StaffContext): Promise<Answer> {
  const partners = await listPartners(sql)
  return {
    json: { partners },
    text:
      partners.length === 0
        ? 'There are no partners yet: npm run staff -- partner add NAME'
        : table(
            ['partner', 'name', 'contact', 'leads', 'live keys', 'endpoint', 'added'],
            partners.map((row) => [
              row.partner_id,
              row.name,
              row.contact_email,
              row.leads,
              row.live_keys,
              row.endpoint_url === null ? null : row.endpoint_state,
              row.created_at,
            ]),
          ),
  }
}

/** The partner's name. */
export async function requirePartner(sql: Sql, partnerId: number): Promise<string> {
  const partner = await findPartner(sql, partnerId)
  if (partner === undefined) throw new Refusal(`There is no partner ${partnerId}: see "partner list".`)
  return printable(partner.name)
}
