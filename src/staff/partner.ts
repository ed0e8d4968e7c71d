import type { Command } from 'commander'
import { z } from 'zod'
import type { Sql } from '../db/orm.ts'
import { addPartner, findPartner, listPartners } from '../db/partners/partner.ts'
import { printable, table } from './answer.ts'
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
    .description('add a partner; then issue its key and set its endpoint')
    .argument('<name>', 'the name that staff and borrowers know')
    .option('--contact <email>', 'receives mails about failing webhooks')
    .action(run(add))
  partner.command('list').description('all partners').action(run(list))
}

export async function add(
  context: StaffContext,
  text: string,
  { contact = null }: { contact?: string | null },
) {
  const name = text.trim()
  if (!NAME.test(name)) throw new Refusal('A partner’s name has 1 to 100 characters and no line breaks.')
  if (contact !== null && !z.email().max(254).safeParse(contact).success) {
    throw new Refusal(`--contact ${printable(contact)} is not an email address.`)
  }
  const { id } = await context.change(async ({ em, audit }) => {
    const partner = await addPartner(em, { name, contactEmail: contact })
    await audit({ action: 'partner.add', partnerId: partner.id })
    return partner
  })
  return {
    json: { partner_id: id, name, contact_email: contact },
    text: [
      `Added partner ${id}, ${name}. Next:`,
      `  npm run staff -- key issue ${id}`,
      `  npm run staff -- endpoint set ${id} https://…`,
    ].join('\n'),
  }
}

async function list({ sql }: StaffContext) {
  const partners = await listPartners(sql)
  const text = table(partners, {
    partner: 'partner_id',
    name: 'name',
    contact: 'contact_email',
    leads: 'leads',
    'live keys': 'live_keys',
    endpoint: (row) => row.endpoint_url && row.endpoint_state,
    added: 'created_at',
  })
  const none = 'There are no partners yet. To add one: npm run staff -- partner add NAME'
  return { json: { partners }, text: partners.length === 0 ? none : text }
}

/** The partner's name. */
export async function requirePartner(sql: Sql, partnerId: number): Promise<string> {
  const partner = await findPartner(sql, partnerId)
  if (partner === undefined) throw new Refusal(`There is no partner ${partnerId}: see "partner list".`)
  return printable(partner.name)
}
