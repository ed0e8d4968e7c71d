import type { Command } from 'commander'
import { z } from 'zod'
import { settleOpenChanges } from '../../../capabilities/self-service/statements/changes.ts'
import { lockEndpoint } from '../../endpoints/statements/endpoint.ts'
import { addPartner, changePartner, findPartner } from '../statements/partner.ts'
import { printable } from '../../../staff/answer.ts'
import { oneOf, partnerId } from '../../../staff/arguments.ts'
import type { StaffContext, Run } from '../../../staff/context.ts'
import { list, show } from './partner-view.ts'
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
    .command('self-service')
    .description('let a partner change its endpoint by API in production, or no longer')
    .argument('<partner>', 'its id', partnerId)
    .argument('<state>', 'on or off', oneOf(['on', 'off']))
    .action(run(selfService))
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
    .action(run(show))
  partner.command('list').description('all partners').action(run(list))
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

/** Whoever is told of a change must be there to object to it. Turned off, it cancels what has not taken effect. */
export async function selfService(context: StaffContext, partner: number, state: 'on' | 'off') {
  await requirePartner(context.sql, partner)
  const canceled = await context.change(async ({ sql, audit }) => {
    const endpoint = await lockEndpoint(sql, partner)
    const found = await findPartner(sql, partner)
    if (endpoint === undefined || found === undefined) throw new Refusal(`There is no partner ${partner}.`)
    if (state === 'on' && found.contact_email === null) {
      throw new Refusal(
        `${printable(found.name)} has no contact, and changes take effect only after its contact was told: set one with "partner contact ${partner} EMAIL".`,
      )
    }
    await changePartner(sql, partner, { self_service: state === 'on' })
    const changes = state === 'off' ? await settleOpenChanges(sql, endpoint.id, 'canceled') : []
    const detail = { state, canceled: changes.map(({ id }) => id) }
    await audit({ action: 'partner.self_service', partnerId: partner, detail })
    return changes
  })
  await Promise.all(canceled.map(({ id }) => context.endpointRequests.change(id).catch(() => undefined)))
  return {
    json: { partner_id: partner, self_service: state === 'on', canceled: canceled.map(({ id }) => id) },
    text: [
      selfServiceOf(context, partner, state),
      ...(canceled.length > 0 ? [`Canceled ${canceled.length} that had not taken effect.`] : []),
    ].join(' '),
  }
}

function selfServiceOf({ config }: StaffContext, partner: number, state: 'on' | 'off'): string {
  if (config.ENVIRONMENT === 'sandbox')
    return `Stored, but this is a sandbox: here every partner changes its endpoint by API, at once. To stop partner ${partner}, revoke its keys.`
  return state === 'on'
    ? `Partner ${partner} changes its endpoint by API. Each change takes effect 24 hours after the emails about it.`
    : `Partner ${partner} no longer changes its endpoint by API.`
}
