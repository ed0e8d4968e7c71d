import { endOpenChanges } from '../../../core/endpoints/statements/changes.ts'
import { lockEndpoint } from '../../../core/endpoints/statements/endpoint.ts'
import { requirePartner } from '../../../core/partners/commands/require-partner.ts'
import { changePartner, findPartner } from '../../../core/partners/statements/partner.ts'
import { printable } from '../../../staff/answer.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { Refusal } from '../../../staff/refusal.ts'
import { createEndpointRequests } from '../workflows/endpoint-requests.ts'

/** Turned on, it needs a contact, who can object to a change. Turned off, it cancels changes that have not taken effect. */
export async function selfService(context: StaffContext, partner: number, state: 'on' | 'off') {
  await requirePartner(context.sql, partner)
  const canceled = await context.change(async ({ sql, audit }) => {
    const endpoint = await lockEndpoint(sql, partner)
    const found = await findPartner(sql, partner)
    if (endpoint === undefined || found === undefined) throw new Refusal(`There is no partner ${partner}.`)
    if (state === 'on' && found.contact_email === null) {
      throw new Refusal(
        `${printable(found.name)} has no contact, and changes take effect only after its contact was told: set one with "partner contact ${partner} EMAIL".`,
      )
    }
    await changePartner(sql, partner, { self_service: state === 'on' })
    const changes = state === 'off' ? await endOpenChanges(sql, endpoint.id, 'canceled') : []
    const detail = { state, canceled: changes.map(({ id }) => id) }
    await audit({ action: 'partner.self_service', partnerId: partner, detail })
    return changes
  })
  const requests = createEndpointRequests(context.client)
  await Promise.all(canceled.map(({ id }) => requests.change(id).catch(() => undefined)))
  return {
    json: { partner_id: partner, self_service: state === 'on', canceled: canceled.map(({ id }) => id) },
    text: [
      selfServiceOf(context, partner, state),
      ...(canceled.length > 0 ? [`Canceled ${canceled.length} that had not taken effect.`] : []),
    ].join(' '),
  }
}

function selfServiceOf({ config }: StaffContext, partner: number, state: 'on' | 'off'): string {
  if (config.ENVIRONMENT === 'sandbox')
    return `Stored, but this is a sandbox: here every partner changes its endpoint by API, at once. To stop partner ${partner}, revoke its keys.`
  return state === 'on'
    ? `Partner ${partner} changes its endpoint by API. Each change takes effect 24 hours after the emails about it.`
    : `Partner ${partner} no longer changes its endpoint by API.`
}
