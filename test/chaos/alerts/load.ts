import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { type TestPartner } from '../../support/service.ts'

const PAUSE_MS = 400
const LIMIT_MS = 4000
/** Leads to which milestones are sent: the latest. */
const KEPT = 40
const MILESTONES = ['contract_signed', 'client_engaged_in_chat', 'escrow_funded'] as const

/**
 * Leads and milestones, without repeats: at each of two API processes in turn, for each partner in turn, until `signal`
 * aborts. What fails is not tried again, as if its sender had given up.
 */
export async function steadyLoad(
  { apiPorts, client }: { apiPorts: readonly number[]; client: Client },
  partners: readonly TestPartner[],
  signal: AbortSignal,
): Promise<void> {
  const leads: number[] = []
  const under = new Set<Promise<void>>()
  const create = async (turn: number) => {
    const { key } = partners[turn % partners.length] as TestPartner
    const port = apiPorts[Math.floor(turn / partners.length) % apiPorts.length]
    const response = await fetch(`http://127.0.0.1:${port}/v1/create-lead`, {
      method: 'POST',
      headers: { authorization: `Service-Key ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        first_name: 'Ada',
        last_name: 'Miller',
        email: `ada${turn}@example.com`,
        phone: '+1 555-0100',
      }),
      signal: AbortSignal.timeout(LIMIT_MS),
    })
    const { lead_id: leadId } = (await response.json()) as { lead_id?: number }
    if (leadId !== undefined) leads.push(leadId)
    if (leads.length > KEPT) leads.shift()
  }
  const advance = async (turn: number) => {
    const leadId = leads[turn % Math.max(1, leads.length)]
    const name = MILESTONES[turn % MILESTONES.length] as string
    if (leadId === undefined) return
    await client.withDeadline(Date.now() + LIMIT_MS, () =>
      client.workflow.getHandle(`lead-${leadId}`).signal(name),
    )
  }
  for (let turn = 0; !signal.aborted; turn += 1) {
    for (const work of [create(turn), advance(turn)]) {
      const done = work.catch(() => {}).finally(() => under.delete(done))
      under.add(done)
    }
    await delay(PAUSE_MS, undefined, { signal }).catch(() => {})
  }
  await Promise.all(under)
}
