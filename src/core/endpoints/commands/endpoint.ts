import type { Command } from 'commander'
import { findEndpoint, lockEndpoint, setEndpoint } from '../statements/endpoint.ts'
import { readHealth } from '../statements/health.ts'
import { oweNotice } from '../statements/notices.ts'
import { failingSince } from '../statements/outage.ts'
import { currentSecret, datesOfLiveSecrets, rotateSecret } from '../statements/secrets.ts'
import { type SealAt, sealing } from '../../sealing/seal.ts'
import { describeReason, healthOf } from '../decisions/endpoint.ts'
import { formatTimestamp } from '../../values/timestamps.ts'
import { checkEndpointUrl } from '../../deliveries/webhooks/endpoint-url.ts'
import { generateSecret } from '../../deliveries/webhooks/secrets.ts'
import { type Answer, fields } from '../../../staff/answer.ts'
import { overlapOption, partnerId } from '../../../staff/arguments.ts'
import type { StaffContext, Run } from '../../../staff/context.ts'
import { describeHealth } from './endpoint-health.ts'
import { pause, resume, startWaking } from './endpoint-pause.ts'
import { orAllowIt, test } from './endpoint-test.ts'
import { noSuchPartner, requirePartner } from '../../partners/commands/require-partner.ts'
import { Refusal } from '../../../staff/refusal.ts'

interface SetOptions {
  fromNow?: boolean
  previous?: boolean
}

export function addEndpointCommands(program: Command, run: Run): void {
  const endpoint = program
    .command('endpoint')
    .description('where partners receive webhooks: a URL and a signing secret each')
    .addHelpText('after', '\nExample:\n  npm run staff -- endpoint set 1 https://lender.example/webhooks')
  const named = (name: string) => endpoint.command(name).argument('<partner>', 'its id', partnerId)
  named('set')
    .description('set the URL and send held webhooks in order; shows the first signing secret once')
    .argument('[url]', 'https://… on the partner’s server')
    .option('--from-now', 'cancel the open webhooks: they are never sent')
    .option('--previous', 'go back to the previous URL and its signing secret, within seven days of a change')
    .action(run(set))
  named('show').description('URL, health, recent attempts and open webhooks').action(run(showEndpoint))
  named('rotate-secret')
    .description('create a new signing secret; the previous one also signs during the overlap')
    .addOption(overlapOption('how long both secrets sign'))
    .action(run(rotate))
  named('pause').description('hold all webhooks until a resume').action(run(pause))
  named('resume').description('send webhooks again, held ones first and in order').action(run(resume))
  named('test').description('send a signed request of type endpoint.ping').action(run(test))
}

export async function set(
  context: StaffContext,
  partner: number,
  wanted: string | undefined,
  { fromNow = false, previous = false }: SetOptions = {},
): Promise<Answer> {
  if ((wanted !== undefined) === previous) throw new Refusal('Name a URL, or --previous without one.')
  const name = await requirePartner(context.sql, partner)
  const before = required(partner, await findEndpoint(context.sql, partner))
  const url = previous ? before.previous?.url : checked(context, wanted ?? '')
  if (url === undefined)
    throw new Refusal(`Partner ${partner} has had no other URL in the last seven days: set one by its URL.`)
  const secret = await firstSecret(context, before.id)
  // paths and queries of webhook URLs can hold passwords
  const detail = { origin: new URL(url).origin, from_now: fromNow, previous }
  const action = { action: 'endpoint.set', partnerId: partner, detail }
  const { id, secretIsNew, canceled } = await context.act(action, async () => {
    const secretId = previous ? before.previous?.secret_id : undefined
    const to = { url, secret: secret.sealed, secretId, fromNow, isTold: true }
    const result = required(partner, await setEndpoint(context.sql, partner, to))
    return { result, detail: { canceled: result.canceled } }
  })
  const made = secretIsNew ? secret.made : undefined
  const kept = previous ? 'It has the signing secret that it had there.' : 'It keeps its signing secret.'
  const shown = made
    ? `Its signing secret, shown only once:\n\n  ${made}`
    : `${kept} To replace it: "endpoint rotate-secret ${partner}".`
  const leftOut = canceled > 0 ? ` Canceled ${canceled} open webhooks.` : ''
  const started = await startWaking(context, id, (before.open_deliveries ?? 0) - canceled)
  return {
    json: {
      partner_id: partner,
      endpoint_id: id,
      url,
      state: 'active',
      secret: made ?? null,
      canceled_deliveries: canceled,
    },
    text: `Webhooks of ${name} go to ${url}.${leftOut}\n${shown}\n\n${started}`,
  }
}

/** @throws {Refusal} if a URL cannot be an endpoint. */
function checked(context: StaffContext, url: string): string {
  const { ENVIRONMENT: environment, WEBHOOK_ALLOW_PRIVATE_NETWORK: allowPrivateNetwork } = context.config
  const fault = checkEndpointUrl(url, { environment, allowPrivateNetwork })
  if (fault === null) return url
  const also = orAllowIt(context, fault.errorCode)
  throw new Refusal(`This URL cannot be an endpoint: ${fault.hint}${also}.`)
}

/** For an endpoint that has none; one that has a secret keeps it, without a key that it would be sealed with. */
async function firstSecret(
  context: StaffContext,
  endpointId: number,
): Promise<{ sealed: SealAt; made?: string }> {
  if ((await currentSecret(context.sql, endpointId)) !== undefined) {
    const sealed = () => {
      throw new Refusal('The endpoint’s signing secret was removed meanwhile: try again.')
    }
    return { sealed }
  }
  const made = generateSecret()
  return { sealed: sealing(made, await context.encryptionKeys()), made }
}

export async function showEndpoint({ sql }: StaffContext, partner: number) {
  const name = await requirePartner(sql, partner)
  const endpoint = required(partner, await findEndpoint(sql, partner))
  const { id, certification, candidate_at: at, candidate_url: candidate, ...rest } = endpoint
  const secrets = await datesOfLiveSecrets(sql, id)
  const failing = await failingSince(sql, partner)
  const { health, reason, since } = healthOf({ ...endpoint, failingSince: failing })
  const reading = await readHealth(sql, partner)
  return {
    json: {
      partner_id: partner,
      endpoint_id: id,
      ...rest,
      failingSince: failing,
      health,
      ...reading,
      candidate: candidate === null ? null : { url: candidate, requested_at: at, certification },
      secrets,
    },
    text: fields({
      partner: `${partner}, ${name}`,
      URL: endpoint.url ?? `none yet; to set one: npm run staff -- endpoint set ${partner} https://…`,
      health: `${health}: ${describeReason(reason)}`,
      since,
      'open webhooks': endpoint.open_deliveries,
      ...describeHealth(reading),
      'live secrets': secrets.length,
      'to be certified': candidate,
      'previous URL': rest.previous?.url,
    }),
  }
}

export async function rotate(context: StaffContext, partner: number, { overlap }: { overlap: number }) {
  const name = await requirePartner(context.sql, partner)
  const secret = generateSecret()
  const sealed = sealing(secret, await context.encryptionKeys())
  const endpointId = await context.change(async ({ sql, audit }) => {
    const { id } = required(partner, await lockEndpoint(sql, partner))
    await rotateSecret(sql, id, sealed, overlap)
    await oweNotice(sql, partner, 'secret_changed')
    const detail = { overlap_seconds: overlap / 1000 }
    await audit({ action: 'endpoint.rotate_secret', partnerId: partner, detail })
    return id
  })
  // which sends the email; if it does not start, the comparison starts it
  await context.startEndpoint(endpointId).catch(() => undefined)
  const until = new Date(Date.now() + overlap)
  const previous =
    overlap === 0
      ? 'The previous secret no longer signs.'
      : `The previous secret also signs until ${formatTimestamp(until)} UTC.`
  return {
    json: { partner_id: partner, secret, previous_expires_at: until },
    text: `The new signing secret of ${name}, shown only once:\n\n  ${secret}\n\n${previous}`,
  }
}

/** Each partner has an endpoint, with or without a URL. */
function required<Found>(partner: number, endpoint: Found | undefined): Found {
  if (endpoint === undefined) throw noSuchPartner(partner)
  return endpoint
}
