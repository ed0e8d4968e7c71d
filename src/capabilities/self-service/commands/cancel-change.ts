import { requirePartner } from '../../../core/partners/commands/require-partner.ts'
import { endOpenChanges } from '../../../core/endpoints/statements/changes.ts'
import { lockEndpoint } from '../../../core/endpoints/statements/endpoint.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { Refusal } from '../../../staff/refusal.ts'
import { createEndpointRequests } from '../workflows/endpoint-requests.ts'

/** What has not taken effect, never does. */
export async function cancelChange(context: StaffContext, partner: number) {
  const name = await requirePartner(context.sql, partner)
  const canceled = await context.change(async ({ sql, audit }) => {
    const endpoint = await lockEndpoint(sql, partner)
    const changes = endpoint === undefined ? [] : await endOpenChanges(sql, endpoint.id, 'canceled')
    const detail = { change_ids: changes.map((change) => change.id) }
    if (changes.length > 0) await audit({ action: 'endpoint.cancel_change', partnerId: partner, detail })
    return changes
  })
  if (canceled.length === 0) throw new Refusal(`${name} has asked for no change that can still be canceled.`)
  const requests = createEndpointRequests(context.client)
  // their workflows find out at their date anyway
  await Promise.all(canceled.map(({ id }) => requests.change(id).catch(() => undefined)))
  const kinds = canceled.map(({ kind }) => (kind === 'url' ? 'the new URL' : 'the new secret'))
  return {
    json: { partner_id: partner, canceled: canceled.map(({ id, kind }) => ({ change_id: id, kind })) },
    text: `Canceled ${kinds.join(' and ')} of ${name}. Webhooks go on as before.`,
  }
}
