import type { Command } from 'commander'
import { findCandidate, secretOfCandidate } from '../statements/changes.ts'
import { findEndpoint, lockEndpoint, setEndpoint } from '../statements/endpoint.ts'
import { readHealth } from '../statements/health.ts'
import { oweNotice } from '../statements/notices.ts'
import { failingSince } from '../statements/outage.ts'
import { datesOfLiveSecrets, rotateSecret } from '../statements/secrets.ts'
import { type SealAt, SealError, sealing } from '../../sealing/seal.ts'
import { describeReason, healthOf } from '../decisions/endpoint.ts'
import { formatTimestamp } from '../../values/timestamps.ts'
import { checkEndpointUrl } from '../../deliveries/webhooks/endpoint-url.ts'
import { generateSecret } from '../../deliveries/webhooks/secrets.ts'
import { type Answer, fields } from '../../../staff/answer.ts'
import { overlapOption, partnerId } from '../../../staff/arguments.ts'
import type { StaffContext, Run } from '../../../staff/context.ts'
import type { Certify } from './certify.ts'
import { describeHealth } from './endpoint-health.ts'
import { drain, pause, resume } from './endpoint-pause.ts'
import { orAllowIt, test } from './endpoint-test.ts'
import { noSuchPartner, requirePartner } from '../../partners/commands/require-partner.ts'
import { Refusal } from '../../../staff/refusal.ts'

interface SetOptions {
  fromNow?: boolean
  untested?: boolean
}

/** @param certify of the room that can, if there is one. */
export function addEndpointCommands(program: Command, run: Run, [certify]: readonly Certify[] = []): void {
  const endpoint = program
    .command('endpoint')
    .description('where partners receive webhooks: a URL and a signing secret each')
    .addHelpText('after', '\nExample:\n  npm run staff -- endpoint set 1 https://lender.example/webhooks')
  const named = (name: string) => endpoint.command(name).argument('<partner>', 'its id', partnerId)
  const certified = certify === undefined ? '' : 'certify the URL, then '
  const setting = named('set')
    .description(`${certified}set it and send held webhooks in order; shows the first signing secret once`)
    .argument('<url>', 'https://… on the partner’s server')
    .option('--from-now', 'cancel the open webhooks: they are never sent')
  if (certify !== undefined)
    setting.option('--untested', 'set it whether or not the server verifies webhooks')
  setting.action(
    run((context, partner: number, url: string, options: SetOptions) =>
      set(context, partner, url, options, certify),
    ),
  )
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
  url: string,
  { fromNow = false, untested = false }: SetOptions = {},
  certify?: Certify,
): Promise<Answer> {
  const { ENVIRONMENT: environment, WEBHOOK_ALLOW_PRIVATE_NETWORK: allowPrivateNetwork } = context.config
  const fault = checkEndpointUrl(url, { environment, allowPrivateNetwork })
  if (fault !== null) {
    const also = orAllowIt(context, fault.errorCode)
    throw new Refusal(`This URL cannot be an endpoint: ${fault.hint}${also}.`)
  }
  const name = await requirePartner(context.sql, partner)
  const before = required(partner, await findEndpoint(context.sql, partner))
  // for a shell, which would take & and ? as its own
  const quoted = `'${url.replaceAll("'", '%27')}'`
  const again = `endpoint set ${partner} ${quoted}${fromNow ? ' --from-now' : ''}`
  const certified = untested ? undefined : await certify?.(context, partner, url, again)
  if (certified?.kind === 'answered') return certified.answer
  const first = await firstSecret(context, before.id, certified?.secret)
  // paths and queries of webhook URLs can hold passwords
  const detail = { origin: new URL(url).origin, from_now: fromNow, certified: certified !== undefined }
  const action = { action: 'endpoint.set', partnerId: partner, detail }
  const { id, secretIsNew, canceled } = await context.act(action, async () => {
    const wanted = { url, secret: first.sealed, fromNow, isTold: true }
    const result = required(partner, await setEndpoint(context.sql, partner, wanted))
    return { result, detail: { canceled: result.canceled } }
  })
  const made = secretIsNew ? first.made : undefined
  const shown = made
    ? `Its signing secret, shown only once:\n\n  ${made}`
    : `It keeps its signing secret. To replace it: "endpoint rotate-secret ${partner}".`
  const leftOut = canceled > 0 ? ` Canceled ${canceled} open webhooks.` : ''
  const tested = certified === undefined ? '' : ' It passed its certification.'
  const drained = await drain(context, id, (before.open_deliveries ?? 0) - canceled)
  return {
    json: {
      partner_id: partner,
      endpoint_id: id,
      url,
      state: 'draining',
      certified: certified !== undefined,
      secret: made ?? null,
      canceled_deliveries: canceled,
    },
    text: `Webhooks of ${name} go to ${url}.${tested}${leftOut}\n${shown}\n\n${drained}`,
  }
}

/**
 * The endpoint's first secret, as it is stored: the one that the partner was given before, or else one that is made. It
 * needs no key for an endpoint that has a secret, which it keeps.
 */
async function firstSecret(
  context: StaffContext,
  endpointId: number,
  certified: string | undefined,
): Promise<{ sealed: SealAt; made?: string }> {
  const live = await datesOfLiveSecrets(context.sql, endpointId)
  if (live.some(({ expires_at: end }) => end === null)) {
    const sealed = () => {
      throw new Refusal('The endpoint’s signing secret was removed meanwhile: try again.')
    }
    return { sealed }
  }
  const keys = await context.encryptionKeys()
  const given = certified ?? (await givenSecret(context, endpointId, keys))
  if (given !== undefined) return { sealed: sealing(given, keys) }
  const made = generateSecret()
  return { sealed: sealing(made, keys), made }
}

/** With the URL that was to be certified; `undefined` also if its key is lost. */
async function givenSecret({ sql }: StaffContext, endpointId: number, keys: readonly Buffer[]) {
  try {
    return await secretOfCandidate(sql, endpointId, keys)
  } catch (error) {
    if (error instanceof SealError) return undefined
    throw error
  }
}

export async function showEndpoint({ sql }: StaffContext, partner: number) {
  const name = await requirePartner(sql, partner)
  const endpoint = required(partner, await findEndpoint(sql, partner))
  const { id, ...rest } = endpoint
  const secrets = await datesOfLiveSecrets(sql, id)
  const candidate = await findCandidate(sql, id)
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
      candidate: candidate ?? null,
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
      'to be certified': candidate?.url ?? null,
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
