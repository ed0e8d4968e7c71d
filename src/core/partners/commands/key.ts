import type { Command } from 'commander'
import { issueKey, listKeys, revokeKey, rotateKeys } from '../statements/keys.ts'
import { formatTimestamp } from '../../values/timestamps.ts'
import { table } from '../../../staff/answer.ts'
import { overlapOption, partnerId } from '../../../staff/arguments.ts'
import type { StaffContext, Run } from '../../../staff/context.ts'
import { requirePartner } from './require-partner.ts'
import { Refusal } from '../../../staff/refusal.ts'

export function addKeyCommands(program: Command, run: Run): void {
  const key = program
    .command('key')
    .description('API keys of partners; a key is shown once, when it is issued')
    .addHelpText('after', '\nExample:\n  npm run staff -- key rotate 1 --overlap 24h')
  const named = (name: string) => key.command(name).argument('<partner>', 'its id', partnerId)
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
  named('list').description('the partner’s keys, by their last four characters').action(run(list))
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

export async function list({ sql }: StaffContext, partner: number) {
  const name = await requirePartner(sql, partner)
  const keys = await listKeys(sql, partner)
  return {
    json: { partner_id: partner, keys },
    text: keys.length === 0 ? noKeys(name, partner) : keyTable(keys),
  }
}

export const noKeys = (name: string, partner: number) =>
  `${name} has no key yet. To issue one: npm run staff -- key issue ${partner}`

export const keyTable = (keys: Awaited<ReturnType<typeof listKeys>>): string =>
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
