import { pauseEndpoint, resumeEndpoint } from '../db/endpoints/states.ts'
import type { Answer } from './answer.ts'
import type { StaffContext } from './context.ts'
import { requirePartner } from './partner.ts'
import { describeFailure, Refusal } from './refusal.ts'

export async function pause(context: StaffContext, partner: number): Promise<Answer> {
  await change(context, partner, 'endpoint.pause', pauseEndpoint)
  return {
    json: { partner_id: partner, state: 'paused' },
    text: `Webhooks of partner ${partner} wait now, until "endpoint resume ${partner}".`,
  }
}

export async function resume(context: StaffContext, partner: number): Promise<Answer> {
  const id = await change(context, partner, 'endpoint.resume', resumeEndpoint)
  const waiting = await drain(context, id)
  return {
    json: { partner_id: partner, state: 'draining' },
    text: `Webhooks of partner ${partner} go out again. ${waiting}`,
  }
}

async function change(
  context: StaffContext,
  partner: number,
  action: string,
  to: typeof pauseEndpoint,
): Promise<number> {
  await requirePartner(context.sql, partner)
  return context.change(async ({ sql, audit }) => {
    const id = await to(sql, partner)
    if (id === undefined)
      throw new Refusal(`Partner ${partner} has no endpoint yet: "endpoint set ${partner} URL".`)
    await audit({ action, partnerId: partner })
    return id
  })
}

/**
 * Starts the workflow that wakes the leads. Where it cannot, the worker's sweep does: what is committed by now,
 * and the secret to be shown, must not be lost to an error.
 */
export async function drain({ startEndpoint, temporal }: StaffContext, endpointId: number): Promise<string> {
  try {
    await startEndpoint(endpointId)
    return 'Webhooks that waited go out now, in order.'
  } catch (error) {
    const reason = describeFailure(error, temporal.address)
    return `Webhooks that waited go out once Temporal is back and a worker runs. ${reason}`
  }
}
