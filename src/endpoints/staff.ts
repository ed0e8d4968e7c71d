import type { Command } from 'commander'
import { requirePartner } from '../partners/staff.ts'
import { sealing } from '../seal.ts'
import { type Answer, fields } from '../staff/answer.ts'
import { overlapOption, partnerArgument } from '../staff/arguments.ts'
import type { Run, StaffContext } from '../staff/context.ts'
import { Refusal } from '../fail.ts'
import { formatTimestamp } from '../values.ts'
import { checkEndpointUrl } from '../webhooks/endpoint-url.ts'
import { generateSecret } from '../webhooks/signature.ts'
import { viewOf } from './get-endpoint.ts'
import { createPing } from './endpoint-workflows.ts'
import { findEndpoint, lockEndpoint } from './endpoint.ts'
import { oweNotice } from './notices.ts'
import { pauseOrResume } from './pause-endpoint.ts'
import { rotateSecret } from './rotate-endpoint-secret.ts'
import { switchAsStaff } from './switch-endpoint.ts'

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
  { fromNow = false, previous = false }: { fromNow?: boolean; previous?: boolean } = {},
): Promise<Answer> {
  if ((wanted !== undefined) === previous) throw new Refusal('Name a URL, or --previous without one.')
  const name = await requirePartner(context.sql, partner)
  const to = previous ? await previousOf(context, partner) : { url: checked(context, wanted ?? '') }
  const made = generateSecret()
  const secret = sealing(made, await context.encryptionKeys())
  // paths and queries of webhook URLs can hold passwords
  const detail = { origin: new URL(to.url).origin, from_now: fromNow, previous }
  const { secretIsNew, canceled } = await context.change(async ({ sql, audit }) => {
    const count = fromNow ? await context.cancelOpen(sql, partner) : 0
    const isNew = await switchAsStaff(sql, partner, { ...to, secret, fromNow })
    await oweNotice(sql, partner, 'url_changed')
    await audit({ action: 'endpoint.set', partnerId: partner, detail: { ...detail, canceled: count } })
    return { secretIsNew: isNew, canceled: count }
  })
  const shown = secretIsNew
    ? `Its signing secret, shown only once:\n\n  ${made}`
    : `Its signing secret is an existing one, not shown again. To replace it: "endpoint rotate-secret ${partner}".`
  const leftOut = canceled > 0 ? ` Canceled ${canceled} open webhooks.` : ''
  return {
    json: {
      partner_id: partner,
      url: to.url,
      state: 'active',
      secret: secretIsNew ? made : null,
      canceled_deliveries: canceled,
    },
    text: `Webhooks of ${name} go to ${to.url}.${leftOut}\n${shown}\n\n${await startWaking(context, partner)}`,
  }
}

async function previousOf({ sql }: StaffContext, partner: number) {
  const endpoint = await findEndpoint(sql, partner)
  const { previous_url: url, previous_secret: secretId, previous_until: until } = endpoint
  if (url === null || until === null || until < new Date())
    throw new Refusal(`Partner ${partner} has had no other URL in the last seven days: set one by its URL.`)
  return { url, secretId: secretId ?? undefined }
}

/** @throws {Refusal} if a URL cannot be an endpoint. */
function checked({ config }: StaffContext, url: string): string {
  const { ENVIRONMENT: environment, WEBHOOK_ALLOW_PRIVATE_NETWORK: allowPrivateNetwork } = config
  const fault = checkEndpointUrl(url, { environment, allowPrivateNetwork })
  if (fault === null) return url
  const isOurs = environment === 'sandbox' && fault.errorCode === 'blocked_address'
  const remedy = isOurs
    ? ' A sandbox reaches its own machine with WEBHOOK_ALLOW_PRIVATE_NETWORK=true, here and for the API and the workers.'
    : ''
  throw new Refusal(`This URL cannot be an endpoint: ${fault.hint}.${remedy}`)
}

/**
 * Starts the workflow that wakes the leads and sends the mails. If Temporal is away, the comparison starts it later: an error
 * here must not hide what is committed, nor the secret that is shown only once.
 */
const startWaking = ({ startEndpoint }: StaffContext, partner: number): Promise<string> =>
  startEndpoint(partner).then(
    () => 'Webhooks that wait, if any, are now sent in order.',
    () => 'Webhooks that wait are sent once Temporal is back and a worker runs.',
  )

export async function showEndpoint({ sql }: StaffContext, partner: number) {
  const name = await requirePartner(sql, partner)
  const view = await viewOf(sql, partner)
  const { last_error: error } = view
  const { previous_url, previous_until } = await findEndpoint(sql, partner)
  const previous = previous_until !== null && previous_until > new Date() ? previous_url : null
  return {
    json: { partner_id: partner, ...view, previous_url: previous },
    text: fields({
      partner: `${partner}, ${name}`,
      URL: view.url ?? `none yet; to set one: npm run staff -- endpoint set ${partner} https://…`,
      health: `${view.health}: ${view.reason}`,
      since: view.since,
      'open webhooks': view.open_deliveries,
      'last success': view.last_success_at,
      'last error': error && `${error.at}: ${error.hint ?? error.error_code}`,
      'next attempt': view.next_attempt_at,
      'next probe': view.next_probe_at,
      'to be certified': view.candidate?.url,
      'previous URL': previous,
    }),
  }
}

export async function rotate(context: StaffContext, partner: number, { overlap }: { overlap: number }) {
  const name = await requirePartner(context.sql, partner)
  const secret = generateSecret()
  const sealed = sealing(secret, await context.encryptionKeys())
  await context.change(async ({ sql, audit }) => {
    await rotateSecret(sql, await lockEndpoint(sql, partner), sealed, overlap)
    const detail = { overlap_seconds: overlap / 1000 }
    await audit({ action: 'endpoint.rotate_secret', partnerId: partner, detail })
  })
  await startWaking(context, partner)
  const until = new Date(Date.now() + overlap)
  return {
    json: { partner_id: partner, secret, previous_expires_at: until },
    text: `The new signing secret of ${name}, shown only once:\n\n  ${secret}\n\nThe previous secret ${overlap > 0 ? `also signs until ${formatTimestamp(until)} UTC` : 'signs no more'}.`,
  }
}

export const pause = (context: StaffContext, partner: number) => setPaused(context, partner, 'pause')
export const resume = (context: StaffContext, partner: number) => setPaused(context, partner, 'resume')

async function setPaused(context: StaffContext, partner: number, verb: 'pause' | 'resume') {
  await requirePartner(context.sql, partner)
  await context.change(async ({ sql, audit }) => {
    const hasUrl = await pauseOrResume(sql, partner, verb === 'pause' ? 'staff' : 'resumed')
    if (!hasUrl) throw withoutUrl(partner)
    await audit({ action: `endpoint.${verb}`, partnerId: partner })
  })
  const woken = await startWaking(context, partner)
  const [state, text] =
    verb === 'pause'
      ? ['paused', `Webhooks of partner ${partner} are held until "endpoint resume ${partner}".`]
      : ['active', `Resumed the endpoint of partner ${partner}. ${woken} See "endpoint show ${partner}".`]
  return { json: { partner_id: partner, state }, text }
}

const withoutUrl = (partner: number) =>
  new Refusal(`Partner ${partner} has no endpoint yet: set one with "endpoint set ${partner} URL".`)

/** Has a worker send a signed request that is no event. */
export async function test(context: StaffContext, partner: number) {
  await requirePartner(context.sql, partner)
  const { url } = await findEndpoint(context.sql, partner)
  if (url === null) throw withoutUrl(partner)
  const outcome = await context.act({ action: 'endpoint.test', partnerId: partner }, async () => {
    const result = await createPing(context.client)(partner)
    return { result, detail: { webhook_id: result.webhook_id, ok: result.ok, status: result.status } }
  })
  const { webhook_id, ok, status, duration_ms: durationMs, error_code: error, hint } = outcome
  return {
    json: { partner_id: partner, url, ...outcome },
    text: [
      ok ? 'The endpoint accepted the test request.' : 'The endpoint did not accept the test request.',
      fields({ URL: url, id: webhook_id, status, took: `${durationMs} ms`, error, hint }),
    ].join('\n\n'),
    failed: !ok,
  }
}
