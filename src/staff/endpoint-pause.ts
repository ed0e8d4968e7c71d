import { pauseEndpoint, resumeEndpoint } from '../db/endpoints/states.ts'
import type { StaffContext } from './context.ts'
import { requirePartner } from './partner.ts'
import { failureOf, Refusal } from './refusal.ts'

export async function pause(context: StaffContext, partner: number) {
  await turn(context, partner, 'endpoint.pause', pauseEndpoint)
  return {
    json: { partner_id: partner, state: 'paused' },
    text: `Webhooks of partner ${partner} are held until "endpoint resume ${partner}".`,
  }
}

export async function resume(context: StaffContext, partner: number) {
  const id = await turn(context, partner, 'endpoint.resume', resumeEndpoint)
  return {
    json: { partner_id: partner, state: 'draining' },
    text: `Resumed the endpoint of partner ${partner}. ${await drain(context, id)}`,
  }
}

async function turn(
  context: StaffContext,
  partner: number,
  action: string,
  to: typeof pauseEndpoint,
): Promise<number> {
  await requirePartner(context.sql, partner)
  return context.change(async ({ sql, audit }) => {
    const id = await to(sql, partner)
    if (id === undefined) throw withoutUrl(partner)
    await audit({ action, partnerId: partner })
    return id
  })
}

export function withoutUrl(partner: number): Refusal {
  return new Refusal(`Partner ${partner} has no endpoint yet: set one with "endpoint set ${partner} URL".`)
}

/**
 * Starts the workflow that wakes the leads. If Temporal is away, the worker's sweep starts it later: an error here
 * must not hide what is already committed, nor the secret that is shown only once.
 */
export async function drain({ startEndpoint, temporal }: StaffContext, endpointId: number): Promise<string> {
  try {
    await startEndpoint(endpointId)
    return 'Held webhooks are now sent in order.'
  } catch (error) {
    const { message } = failureOf(error, temporal.address)
    return `Held webhooks are sent once Temporal is back and a worker runs. ${message}`
  }
}
