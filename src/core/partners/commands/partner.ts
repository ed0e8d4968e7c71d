import type { Command } from 'commander'
import { z } from 'zod'
import { addPartner, changePartner } from '../statements/partner.ts'
import { printable } from '../../../staff/answer.ts'
import { partnerId } from '../../../staff/arguments.ts'
import type { StaffContext, Run } from '../../../staff/context.ts'
import { health } from './partner-health.ts'
import { list, showPartner } from './partner-view.ts'
import { Refusal } from '../../../staff/refusal.ts'
import { requirePartner } from './require-partner.ts'

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
    .option('--contact <email>', 'receives mails about the endpoint')
    .action(run(add))
  partner
    .command('contact')
    .description('set who receives mails about the endpoint')
    .argument('<partner>', 'its id', partnerId)
    .argument('<email>')
    .action(run(setContact))
  partner
    .command('show')
    .description('a partner, its endpoint’s state and its keys')
    .argument('<partner>', 'its id', partnerId)
    .action(run(showPartner))
  partner
    .command('health')
    .description('how it fares: its endpoint, and its events and attempts by day')
    .argument('<partner>', 'its id', partnerId)
    .action(run(health))
  partner
    .command('list')
    .description('all partners, with the age of the oldest webhook that waits and the success rate')
    .action(run(list))
}

export async function add(
  context: StaffContext,
  text: string,
  { contact = null }: { contact?: string | null },
) {
  const name = text.trim()
  if (!NAME.test(name)) throw new Refusal('A partner’s name has 1 to 100 characters and no line breaks.')
  if (contact !== null) requireEmail(contact)
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

function requireEmail(email: string): void {
  if (z.email().max(254).safeParse(email).success) return
  throw new Refusal(`${printable(email)} is not an email address.`)
}

async function setContact(context: StaffContext, partner: number, email: string) {
  requireEmail(email)
  const name = await requirePartner(context.sql, partner)
  await context.change(async ({ sql, audit }) => {
    await changePartner(sql, partner, { contact_email: email })
    await audit({ action: 'partner.contact', partnerId: partner })
  })
  return {
    json: { partner_id: partner, contact_email: email },
    text: `Mails about the endpoint of ${name} go to ${email}.`,
  }
}
