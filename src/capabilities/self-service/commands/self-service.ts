import { dropCandidate } from '../../../core/endpoints/statements/candidate.ts'
import { lockEndpoint } from '../../../core/endpoints/statements/endpoint.ts'
import { requirePartner } from '../../../core/partners/commands/require-partner.ts'
import { changePartner, findPartner } from '../../../core/partners/statements/partner.ts'
import { printable } from '../../../staff/answer.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { Refusal } from '../../../staff/refusal.ts'

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
