import type { Command } from 'commander'
import { changePartner, findPartner } from '../partners/partner.ts'
import { noSuchPartner, requirePartner } from '../partners/require-partner.ts'
import { type SealAt, sealing } from '../seal.ts'
import { type Answer, fields, printable, soon } from '../staff/answer.ts'
import { nounOf, oneOf, overlapOption, partnerArgument } from '../staff/arguments.ts'
import type { Run, StaffContext } from '../staff/context.ts'
import { failureOf, Refusal } from '../staff/refusal.ts'
import { isPolling } from '../temporal/away.ts'
import { formatTimestamp } from '../values.ts'
import { checkEndpointUrl } from '../webhooks/endpoint-url.ts'
import { createSender, sendPing } from '../webhooks/send.ts'
import { generateSecret } from '../webhooks/signature.ts'
import { type EndpointReading, failingSince, firstAttemptSince, readHealth } from './endpoint-health.ts'
import { describeReason, healthOf } from './endpoint-state.ts'
import { pauseOrResume } from './endpoint.ts'
import { oweNotice } from './notices.ts'
import { currentSecret, datesOfLiveSecrets, rotateSecret, signingSecrets } from './secrets.ts'
import { dropCandidate, findEndpoint, lockEndpoint, setEndpoint } from './switch-endpoint.ts'

/** What `endpoint show` prints about recent attempts, waiting webhooks and probes. */
function describeHealth({
  recent_attempts,
  last_success_at,
  last_error: error,
  oldest_waiting: oldest,
  next_attempt_at,
  next_probe_at,
}: EndpointReading) {
  return {
    'recent attempts': describeAttempts(recent_attempts),
    'last success': last_success_at,
    'last error': error && `${formatTimestamp(new Date(error.at))}: ${error.hint ?? error.error_code}`,
    'oldest waiting':
      oldest &&
      `${oldest.event_name} of lead ${oldest.lead_id} since ${formatTimestamp(oldest.waiting_since)}, ${oldest.event_id}`,
    'next attempt': next_attempt_at,
    'next probe': next_probe_at,
  }
}

function describeAttempts({
  count,
  success_rate: rate,
  duration_p50_ms: p50,
  duration_p95_ms: p95,
}: EndpointReading['recent_attempts']): string {
  if (rate === null) return 'none to this URL'
  return `${count}, of which ${Number((rate * 100).toFixed(2))}% succeeded; p50 ${p50} ms, p95 ${p95} ms`
}

/** Longer than a webhook request may take. */
const ATTEMPT_LIMIT_S = 25

export async function pause(context: StaffContext, partner: number) {
  await change(context, partner, 'endpoint.pause', 'pausedByStaff')
  return {
    json: { partner_id: partner, state: 'paused' },
    text: `Webhooks of partner ${partner} are held until "endpoint resume ${partner}".`,
  }
}

export async function resume(context: StaffContext, partner: number) {
  const before = await findEndpoint(context.sql, partner)
  const id = await change(context, partner, 'endpoint.resume', 'resumedByStaff')
  const waiting = before?.open_deliveries ?? 0
  const started = await startWaking(context, id, waiting)
  const isTried = waiting > 0 && (await isPolling(context.client).catch(() => false))
  const first = isTried
    ? await soon(() => firstAttemptSince(context.sql, partner), ATTEMPT_LIMIT_S * 1000)
    : undefined
  const said = isTried ? ` ${describeFirst(first, partner)}` : ''
  return {
    json: { partner_id: partner, state: 'active', first_attempt: first ?? null },
    text: `Resumed the endpoint of partner ${partner}. ${started}${said}`,
    failed: first !== undefined && first.error_code !== null,
  }
}

function describeFirst(first: Awaited<ReturnType<typeof firstAttemptSince>>, partner: number): string {
  const show = `see "endpoint show ${partner}"`
  if (first === undefined) return `No attempt has ended within ${ATTEMPT_LIMIT_S} seconds: ${show}.`
  if (first.error_code === null) return 'The endpoint accepted the first one.'
  return `But it did not accept the first one: ${first.hint ?? first.status ?? first.error_code}. They are tried again on schedule: ${show}.`
}

async function change(
  context: StaffContext,
  partner: number,
  action: string,
  transition: Parameters<typeof pauseOrResume>[2],
): Promise<number> {
  await requirePartner(context.sql, partner)
  return context.change(async ({ sql, audit }) => {
    const id = await pauseOrResume(sql, partner, transition)
    if (id === undefined) throw withoutUrl(partner)
    await audit({ action, partnerId: partner })
    return id
  })
}

function withoutUrl(partner: number): Refusal {
  return new Refusal(`Partner ${partner} has no endpoint yet: set one with "endpoint set ${partner} URL".`)
}

/**
 * Starts the workflow that wakes the leads. If Temporal is away, the comparison starts it later: an error here
 * must not hide what is already committed, nor the secret that is shown only once.
 *
 * @param waiting how many webhooks waited for it.
 */
async function startWaking(
  { startEndpoint, temporal }: StaffContext,
  endpointId: number,
  waiting: number,
): Promise<string> {
  try {
    await startEndpoint(endpointId)
    return waiting <= 0 ? 'No webhook was waiting.' : 'Webhooks that were waiting are now sent in order.'
  } catch (error) {
    const { message } = failureOf(error, temporal.address)
    return `Webhooks are sent once Temporal is back and a worker runs. ${message}`
  }
}

/** Sends a signed request that is no event. Only the audit records it. */
export async function test(context: StaffContext, partner: number) {
  await requirePartner(context.sql, partner)
  const endpoint = await findEndpoint(context.sql, partner)
  if (!endpoint?.url) throw withoutUrl(partner)
  const { id: endpointId, url } = endpoint
  const secrets = await signingSecrets(context.sql, endpointId, await context.openingKeys())
  const outcome = await context.act({ action: 'endpoint.test', partnerId: partner }, async () => {
    const result = await send(context, { url, partnerId: partner, secrets })
    return { result, detail: { webhook_id: result.webhook_id, ok: result.ok, status: result.status } }
  })
  const { webhook_id: id, ok, status, duration_ms: durationMs, error_code: errorCode } = outcome
  const hint = outcome.hint && outcome.hint + orAllowIt(context, errorCode)
  return {
    json: { partner_id: partner, url, ...outcome, hint },
    text: [
      ok ? 'The endpoint accepted the test request.' : 'The endpoint did not accept the test request.',
      fields({ URL: url, id, status, took: `${durationMs} ms`, error: errorCode, hint }),
    ].join('\n\n'),
    failed: !ok,
  }
}

/** What else helps against a private address: the shell of staff may lack the setting that the worker has. */
function orAllowIt({ config }: StaffContext, errorCode: string | null): string {
  if (errorCode !== 'blocked_address' || config.ENVIRONMENT !== 'sandbox') return ''
  return '; for development on one machine, set WEBHOOK_ALLOW_PRIVATE_NETWORK=true here as well as for API and worker'
}

async function send({ config }: StaffContext, to: { url: string; partnerId: number; secrets: string[] }) {
  const { ENVIRONMENT: environment, WEBHOOK_ALLOW_PRIVATE_NETWORK: allowPrivateNetwork } = config
  const sender = createSender({ environment, allowPrivateNetwork })
  try {
    return await sendPing({ ...to, environment }, sender.send)
  } finally {
    await sender.close()
  }
}

interface SetOptions {
  fromNow?: boolean
  previous?: boolean
}

export function addEndpointCommands(program: Command, run: Run): void {
  const endpoint = program
    .command('endpoint')
    .description('where partners receive webhooks: a URL and a signing secret each')
    .addHelpText('after', '\nExample:\n  npm run staff -- endpoint set 1 https://lender.example/webhooks')
  const named = (name: string) => endpoint.command(name).argument('<partner>', 'its id', partnerArgument)
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

/** Turned on, it needs a contact, who is told of changes. Turned off, it cancels a candidate. */
export async function selfService(context: StaffContext, partner: number, state: 'on' | 'off') {
  await requirePartner(context.sql, partner)
  const canceled = await context.change(async ({ sql, audit }) => {
    const endpoint = await lockEndpoint(sql, partner)
    const found = await findPartner(sql, partner)
    if (endpoint === undefined || found === undefined) throw new Refusal(`There is no partner ${partner}.`)
    if (state === 'on' && found.contact_email === null) {
      throw new Refusal(
        `${printable(found.name)} has no contact, who would be told of changes: set one with "partner contact ${partner} EMAIL".`,
      )
    }
    await changePartner(sql, partner, { self_service: state === 'on' })
    const dropped = state === 'off' && (await dropCandidate(sql, endpoint.id))
    await audit({ action: 'partner.self_service', partnerId: partner, detail: { state, canceled: dropped } })
    return dropped
  })
  return {
    json: { partner_id: partner, self_service: state === 'on', canceled },
    text: [
      selfServiceOf(context, partner, state),
      ...(canceled ? ['Canceled the URL that was not certified.'] : []),
    ].join(' '),
  }
}

function selfServiceOf({ config }: StaffContext, partner: number, state: 'on' | 'off'): string {
  if (config.ENVIRONMENT === 'sandbox')
    return `Stored, but this is a sandbox: here every partner changes its endpoint by API, at once. To stop partner ${partner}, revoke its keys.`
  return state === 'on'
    ? `Partner ${partner} changes its endpoint by API. Its contact and staff are told of each change.`
    : `Partner ${partner} no longer changes its endpoint by API.`
}

export function addSelfServiceCommands(program: Command, run: Run): void {
  nounOf(program, 'partner')
    .command('self-service')
    .description('let a partner change its endpoint by API in production, or no longer')
    .argument('<partner>', 'its id', partnerArgument)
    .argument('<state>', 'on or off', oneOf(['on', 'off']))
    .action(run(selfService))
}
