import { findEndpoint } from '../statements/endpoint.ts'
import { firstAttemptSince } from '../statements/outage.ts'
import { pauseOrResume } from '../statements/states.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { soon } from '../../../staff/soon.ts'
import { isPolling } from '../../temporal/polling.ts'
import { requirePartner } from '../../partners/commands/require-partner.ts'
import { failureOf, Refusal } from '../../../staff/refusal.ts'

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

export function withoutUrl(partner: number): Refusal {
  return new Refusal(`Partner ${partner} has no endpoint yet: set one with "endpoint set ${partner} URL".`)
}

/**
 * Starts the workflow that wakes the leads. If Temporal is away, the comparison starts it later: an error here
 * must not hide what is already committed, nor the secret that is shown only once.
 *
 * @param waiting how many webhooks waited for it.
 */
export async function startWaking(
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
