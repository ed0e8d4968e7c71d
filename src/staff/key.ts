import type { Command } from 'commander'
import { issueKey, listKeys, revokeKey, rotateKeys } from '../db/partners/keys.ts'
import { type Answer, table } from './answer.ts'
import { overlapMs, partnerId } from './arguments.ts'
import type { StaffContext, Run } from './context.ts'
import { requirePartner } from './partner.ts'
import { Refusal } from './refusal.ts'
import { formatTimestamp } from '../domain/timestamps.ts'

export function addKeyCommands(program: Command, run: Run): void {
  const key = program
    .command('key')
    .description('API keys of partners; a key is shown once, when it is issued')
    .addHelpText('after', '\nExample:\n  npm run staff -- key rotate 1 --overlap 24h')
  const named = (name: string) => key.command(name).argument('<partner>', 'its id', partnerId)
  named('issue').description('issue one more key').action(run(issue))
  named('rotate')
    .description('issue a new key; all other live keys expire after the overlap')
    .option('--overlap <time>', 'how long the others stay valid: 0 to 7d', overlapMs, overlapMs('24h'))
    .action(run(rotate))
  key
    .command('revoke')
    .description('revoke a key; it opens nothing a second later')
    .argument('<key>', 'its id, or the key itself')
    .action(run(revoke))
  named('list').description('the partner’s keys, as far as they can be shown').action(run(list))
}

export async function issue(context: StaffContext, partner: number): Promise<Answer> {
  const name = await requirePartner(context.sql, partner)
  const { id, key } = await context.change(async ({ em, audit }) => {
    const issued = await issueKey(em, partner, context.config.ENVIRONMENT)
    await audit({ action: 'key.issue', partnerId: partner, detail: { key_id: issued.id } })
    return issued
  })
  return {
    json: { partner_id: partner, key_id: id, key, environment: context.config.ENVIRONMENT },
    text: shownOnce(id, key, name),
  }
}

export async function rotate(
  context: StaffContext,
  partner: number,
  { overlap }: { overlap: number },
): Promise<Answer> {
  const name = await requirePartner(context.sql, partner)
  const { id, key, expiring, expiresAt } = await context.change(async ({ em, audit }) => {
    const rotated = await rotateKeys(em, partner, context.config.ENVIRONMENT, overlap)
    const detail = { key_id: rotated.id, expiring: rotated.expiring, overlap_seconds: overlap / 1000 }
    await audit({ action: 'key.rotate', partnerId: partner, detail })
    return rotated
  })
  const others =
    expiring.length === 0
      ? 'The partner had no other live key.'
      : `The others (${expiring.join(', ')}) expire by ${formatTimestamp(expiresAt)} UTC.`
  return {
    json: {
      partner_id: partner,
      key_id: id,
      key,
      environment: context.config.ENVIRONMENT,
      expiring_key_ids: expiring,
      others_expire_at: expiresAt,
    },
    text: `${shownOnce(id, key, name)}\n\n${others}`,
  }
}

export async function revoke(context: StaffContext, named: string): Promise<Answer> {
  const key = /^[1-9]\d{0,8}$/.test(named) ? Number(named) : named
  const revoked = await context.change(async ({ sql, audit }) => {
    const found = await revokeKey(sql, key)
    if (found === undefined)
      throw new Refusal('There is no such key: give its id (see "key list PARTNER") or all of it.')
    if (!found.already)
      await audit({ action: 'key.revoke', partnerId: found.partnerId, detail: { key_id: found.id } })
    return found
  })
  const { id, partnerId: partner, revokedAt, already } = revoked
  return {
    json: { key_id: id, partner_id: partner, revoked_at: revokedAt, already_revoked: already },
    text: already
      ? `Key ${id} of partner ${partner} was revoked already, at ${formatTimestamp(revokedAt)} UTC.`
      : `Revoked key ${id} of partner ${partner}: it opens nothing from a second on.`,
  }
}

export async function list({ sql }: StaffContext, partner: number): Promise<Answer> {
  const name = await requirePartner(sql, partner)
  const keys = await listKeys(sql, partner)
  const rows = keys.map((key) => [
    key.key_id,
    `…${key.last4}`,
    key.state,
    key.created_at,
    key.expires_at,
    key.revoked_at,
    key.last_used_at,
  ])
  return {
    json: { partner_id: partner, keys },
    text:
      keys.length === 0
        ? `${name} has no key yet: npm run staff -- key issue ${partner}`
        : table(['key', 'ends in', 'state', 'issued', 'expires', 'revoked', 'last used'], rows),
  }
}

function shownOnce(id: number, key: string, name: string): string {
  return `Key ${id} of ${name}, shown this once:\n\n  ${key}\n\nThe partner sends it as "Authorization: Service-Key <key>".`
}
