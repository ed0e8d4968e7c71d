import type { Command } from 'commander'
import { z } from 'zod'
import { type Figures, figuresByPartner } from '../endpoints/endpoint-health.ts'
import { isFailing } from '../endpoints/endpoint-state.ts'
import { ageText, fields, printable, table } from '../staff/answer.ts'
import { overlapOption, partnerArgument } from '../staff/arguments.ts'
import type { Run, StaffContext } from '../staff/context.ts'
import { Refusal } from '../staff/refusal.ts'
import { formatTimestamp } from '../values.ts'
import { issueKey, listKeys, revokeKey, rotateKeys } from './keys.ts'
import { health, shareText } from './partner-health.ts'
import { addPartner, changePartner, listPartners } from './partner.ts'
import { noSuchPartner, requirePartner } from './require-partner.ts'

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
  const { id, key } = await context.change(async ({ em, audit }) => {
    const issued = await issueKey(em, partner, environment)
    await audit({ action: 'key.issue', partnerId: partner, detail: { key_id: issued.id } })
    return issued
  })
  return {
    json: { partner_id: partner, key_id: id, key, environment },
    text: shownOnce({ id, key }, name),
  }
}

export async function rotate(context: StaffContext, partner: number, { overlap }: { overlap: number }) {
  const name = await requirePartner(context.sql, partner)
  const environment = context.config.ENVIRONMENT
  const { id, key, expiring, expiresAt } = await context.change(async ({ em, audit }) => {
    const rotated = await rotateKeys(em, partner, environment, overlap)
    const detail = {
      key_id: rotated.id,
      expiring: rotated.expiring,
      overlap_seconds: overlap / 1000,
    }
    await audit({ action: 'key.rotate', partnerId: partner, detail })
    return rotated
  })
  const others =
    expiring.length === 0
      ? 'The partner had no other valid key.'
      : `The other keys (${expiring.join(', ')}) expire by ${formatTimestamp(expiresAt)} UTC.`
  return {
    json: {
      partner_id: partner,
      key_id: id,
      key,
      environment,
      expiring_key_ids: expiring,
      others_expire_at: expiresAt,
    },
    text: `${shownOnce({ id, key }, name)}\n\n${others}`,
  }
}

export async function revoke(context: StaffContext, named: string) {
  const key = /^[1-9]\d{0,8}$/.test(named) ? Number(named) : named
  const revoked = await context.change(async ({ sql, audit }) => {
    const found = await revokeKey(sql, key)
    if (found === undefined)
      throw new Refusal('There is no such key: use its id (see "key list PARTNER") or the whole key.')
    if (!found.already)
      await audit({ action: 'key.revoke', partnerId: found.partnerId, detail: { key_id: found.id } })
    return found
  })
  const { id, partnerId: partner, revokedAt, already } = revoked
  const others = (await listKeys(context.sql, partner)).filter(({ state }) => state === 'valid')
  const outcome = already
    ? `Key ${id} of partner ${partner} was already revoked at ${formatTimestamp(revokedAt)} UTC.`
    : `Revoked key ${id} of partner ${partner}. It stops working within a second.`
  return {
    json: {
      key_id: id,
      partner_id: partner,
      revoked_at: revokedAt,
      already_revoked: already,
    },
    text: `${outcome}${others.length === 0 ? noneLeft(partner) : ''}`,
  }
}

export async function listKeysOf({ sql }: StaffContext, partner: number) {
  const name = await requirePartner(sql, partner)
  const keys = await listKeys(sql, partner)
  return {
    json: { partner_id: partner, keys },
    text: keys.length === 0 ? noKeys(name, partner) : keyTable(keys),
  }
}

const noKeys = (name: string, partner: number) =>
  `${name} has no key yet. To issue one: npm run staff -- key issue ${partner}`

const keyTable = (keys: Awaited<ReturnType<typeof listKeys>>): string =>
  table(keys, {
    key: 'key_id',
    'ends in': ({ last4 }) => `…${last4}`,
    state: 'state',
    issued: 'created_at',
    expires: 'expires_at',
    revoked: 'revoked_at',
    'last used': 'last_used_at',
  })

const noneLeft = (partner: number) =>
  `\nThe partner has no other key that works. To issue one: npm run staff -- key issue ${partner}`

function shownOnce({ id, key }: { id: number; key: string }, name: string): string {
  return `Key ${id} of ${name}, shown only once:\n\n  ${key}\n\nThe partner sends it as "Authorization: Service-Key <key>".`
}

type Partner = Awaited<ReturnType<typeof listPartners>>[number]

const NO_FIGURES: Figures = { oldest_undelivered_at: null, success_rate: null }

/** All partners. */
export async function listAllPartners({ sql, config }: StaffContext) {
  const rows = await listPartners(sql)
  const figures = await figuresByPartner(
    sql,
    rows.map((row) => row.partner_id),
  )
  const partners = rows.map((row) => ({ ...row, ...(figures.get(row.partner_id) ?? NO_FIGURES) }))
  const text = table(partners, {
    partner: 'partner_id',
    name: 'name',
    contact: 'contact_email',
    leads: 'leads',
    'valid keys': 'valid_keys',
    'self-service': (row) => selfServiceOf(row, config.ENVIRONMENT),
    endpoint: endpointState,
    'oldest waits': ({ oldest_undelivered_at: at }) => at && ageText(at),
    'succeeded in 24 h': ({ success_rate: rate }) => (rate === null ? null : shareText(rate)),
    added: 'created_at',
  })
  const none = 'There are no partners yet. To add one: npm run staff -- partner add NAME'
  return { json: { partners }, text: partners.length === 0 ? none : text }
}

/** A partner, its endpoint's state and its keys. */
export async function showPartner({ sql, config }: StaffContext, partner: number) {
  const [row] = await listPartners(sql, partner)
  if (row === undefined) throw noSuchPartner(partner)
  const keys = await listKeys(sql, partner)
  const about = fields({
    partner,
    name: row.name,
    contact: row.contact_email,
    leads: row.leads,
    'self-service': selfServiceOf(row, config.ENVIRONMENT),
    endpoint: row.endpoint_url,
    'endpoint state': endpointState(row),
    added: row.created_at,
  })
  return {
    json: { ...row, keys },
    text: `${about}\n\n${keys.length === 0 ? noKeys(printable(row.name), partner) : keyTable(keys)}`,
  }
}

const endpointState = ({ endpoint_url: url, endpoint_state: state, failing_since: since }: Partner) =>
  url && (isFailing(state, since) ? 'failing' : state)

/** In a sandbox, every partner changes its endpoint itself. */
function selfServiceOf({ self_service: isOn }: Partner, environment: 'sandbox' | 'production'): string {
  if (environment === 'sandbox') return 'on (sandbox)'
  return isOn ? 'on' : 'off'
}

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
    .argument('<partner>', 'its id', partnerArgument)
    .argument('<email>')
    .action(run(setContact))
  partner
    .command('show')
    .description('a partner, its endpoint’s state and its keys')
    .argument('<partner>', 'its id', partnerArgument)
    .action(run(showPartner))
  partner
    .command('health')
    .description('how it fares: its endpoint, and its events and attempts by day')
    .argument('<partner>', 'its id', partnerArgument)
    .action(run(health))
  partner
    .command('list')
    .description('all partners, with the age of the oldest webhook that waits and the success rate')
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
