import type { Command } from 'commander'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import { fields, printable, table } from '../staff/answer.ts'
import { overlapOption, partnerArgument } from '../staff/arguments.ts'
import type { Run, StaffContext } from '../staff/context.ts'
import { Refusal } from '../fail.ts'
import { formatTimestamp, NAME } from '../values.ts'
import { issueKey, listKeys, revokeKey, rotateKeys } from './keys.ts'
import { addPartner, listPartners } from './partner.ts'

export function addPartnerCommands(program: Command, run: Run): void {
  const example = 'npm run staff -- partner add "First Lender" --contact tech@lender.example'
  const partner = program
    .command('partner')
    .description('lenders that refer borrowers')
    .addHelpText('after', `\nExample:\n  ${example}`)
  const named = (name: string) => partner.command(name).argument('<partner>', 'its id', partnerArgument)
  partner
    .command('add')
    .description('add a partner; then issue its key and set its endpoint')
    .argument('<name>', 'the name that staff and borrowers know')
    .option('--contact <email>', 'receives mails about the endpoint')
    .action(run(add))
  named('contact')
    .description('set who receives mails about the endpoint')
    .argument('<email>')
    .action(run(setContact))
  named('show').description('a partner, its endpoint’s state and its keys').action(run(showPartner))
  partner
    .command('list')
    .description('all partners, with the state of their endpoints')
    .action(run(listAllPartners))
}

export async function add(
  context: StaffContext,
  text: string,
  { contact = null }: { contact?: string | null },
) {
  const name = text.trim()
  if (!NAME.test(name)) throw new Refusal('A partner’s name has 1 to 100 characters and no line breaks.')
  if (contact !== null) requireEmail(contact)
  const { id } = await context.change(async ({ sql, audit }) => {
    const partner = await addPartner(sql, { name, contact_email: contact })
    await audit({ action: 'partner.add', partnerId: partner.id })
    return partner
  })
  const next = [`npm run staff -- key issue ${id}`, `npm run staff -- endpoint set ${id} https://…`]
  return {
    json: { partner_id: id, name, contact_email: contact },
    text: [`Added partner ${id}, ${name}. Next:`, ...next].join('\n  '),
  }
}

async function setContact(context: StaffContext, partner: number, email: string) {
  requireEmail(email)
  const name = await requirePartner(context.sql, partner)
  await context.change(async ({ sql, audit }) => {
    await sql.updateTable('partners').set({ contact_email: email }).where('id', '=', partner).execute()
    await audit({ action: 'partner.contact', partnerId: partner })
  })
  return {
    json: { partner_id: partner, contact_email: email },
    text: `Mails about the endpoint of ${name} go to ${email}.`,
  }
}

function requireEmail(email: string): void {
  if (z.email().max(254).safeParse(email).success) return
  throw new Refusal(`${printable(email)} is not an email address.`)
}

export async function showPartner({ sql }: StaffContext, partner: number) {
  const row = await findPartner(sql, partner)
  const keys = await listKeys(sql, partner)
  const { name, contact_email: contact, endpoint_url: endpoint, created_at: added } = row
  const about = fields({ partner, name, contact, endpoint, 'endpoint state': row.endpoint_state, added })
  return { json: { ...row, keys }, text: `${about}\n\n${keysText(keys, partner)}` }
}

export async function listAllPartners({ sql }: StaffContext) {
  const partners = await listPartners(sql)
  const text = table(partners, {
    partner: 'partner_id',
    name: 'name',
    contact: 'contact_email',
    endpoint: ({ endpoint_url: url, endpoint_state: state }) => url && state,
    added: 'created_at',
  })
  const none = 'There are no partners yet. To add one: npm run staff -- partner add NAME'
  return { json: { partners }, text: partners.length === 0 ? none : text }
}

async function findPartner(sql: Sql, partner: number) {
  const [found] = await listPartners(sql, partner)
  if (found === undefined) throw new Refusal(`There is no partner ${partner}: see "partner list".`)
  return found
}

/** The partner's name. */
export async function requirePartner(sql: Sql, partner: number): Promise<string> {
  return printable((await findPartner(sql, partner)).name)
}

export function addKeyCommands(program: Command, run: Run): void {
  const key = program
    .command('key')
    .description('API keys of partners; a key is shown once, when it is issued')
    .addHelpText('after', '\nExample:\n  npm run staff -- key rotate 1 --overlap 24h')
  const named = (name: string) => key.command(name).argument('<partner>', 'its id', partnerArgument)
  named('issue').description('issue another key').action(run(issue))
  named('rotate')
    .description('issue a new key; all other valid keys expire after the overlap')
    .addOption(overlapOption('how long the other keys stay valid'))
    .action(run(rotate))
  key
    .command('revoke')
    .description('revoke a key; it stops working within a second')
    .argument('<key>', 'its id, or the key itself')
    .action(run(revoke))
  named('list').description('the partner’s keys, by their last four characters').action(run(listKeysOf))
}

export async function issue(context: StaffContext, partner: number) {
  const name = await requirePartner(context.sql, partner)
  const environment = context.config.ENVIRONMENT
  const { id, key } = await context.change(async ({ sql, audit }) => {
    const issued = await issueKey(sql, partner, environment)
    await audit({ action: 'key.issue', partnerId: partner, detail: { key_id: issued.id } })
    return issued
  })
  return { json: { partner_id: partner, key_id: id, key, environment }, text: shownOnce({ id, key }, name) }
}

export async function rotate(context: StaffContext, partner: number, { overlap }: { overlap: number }) {
  const name = await requirePartner(context.sql, partner)
  const environment = context.config.ENVIRONMENT
  const { id, key, expiring } = await context.change(async ({ sql, audit }) => {
    const rotated = await rotateKeys(sql, partner, environment, overlap)
    const detail = { key_id: rotated.id, expiring: rotated.expiring, overlap_seconds: overlap / 1000 }
    await audit({ action: 'key.rotate', partnerId: partner, detail })
    return rotated
  })
  const until = new Date(Date.now() + overlap)
  const others = `Other keys (${expiring.join(', ') || 'none'}) expire by ${formatTimestamp(until)} UTC.`
  const ends = { expiring_key_ids: expiring, others_expire_at: until }
  return {
    json: { partner_id: partner, key_id: id, key, environment, ...ends },
    text: `${shownOnce({ id, key }, name)}\n\n${others}`,
  }
}

function shownOnce({ id, key }: { id: number; key: string }, name: string): string {
  return `Key ${id} of ${name}, shown only once:\n\n  ${key}\n\nThe partner sends it as "Authorization: Service-Key <key>".`
}

export async function revoke(context: StaffContext, named: string) {
  const key = /^[1-9]\d{0,8}$/.test(named) ? Number(named) : named
  const { id, partnerId, revokedAt } = await context.change(async ({ sql, audit }) => {
    const found = await revokeKey(sql, key)
    if (found === undefined)
      throw new Refusal('There is no such key: use its id (see "key list PARTNER") or the whole key.')
    await audit({ action: 'key.revoke', partnerId: found.partnerId, detail: { key_id: found.id } })
    return found
  })
  return {
    json: { key_id: id, partner_id: partnerId, revoked_at: revokedAt },
    text: `Key ${id} of partner ${partnerId} is revoked and stops working within a second. To issue another: npm run staff -- key issue ${partnerId}`,
  }
}

export async function listKeysOf({ sql }: StaffContext, partner: number) {
  await requirePartner(sql, partner)
  const keys = await listKeys(sql, partner)
  return { json: { partner_id: partner, keys }, text: keysText(keys, partner) }
}

function keysText(keys: Awaited<ReturnType<typeof listKeys>>, partner: number): string {
  if (keys.length === 0)
    return `The partner has no key yet. To issue one: npm run staff -- key issue ${partner}`
  return table(keys, {
    key: 'key_id',
    'ends in': ({ last4 }) => `…${last4}`,
    state: 'state',
    issued: 'created_at',
    expires: 'expires_at',
    revoked: 'revoked_at',
    'last used': 'last_used_at',
  })
}
