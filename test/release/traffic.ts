import { setTimeout as delay } from 'node:timers/promises'
import { atEnd } from '../support/at-end.ts'
import { leadsOf } from '../support/leads.ts'
import type { Service, TestPartner } from '../support/service.ts'

const GAINS = {
  experian_gain: 1,
  equifax_gain: 1,
  transunion_gain: 1,
  estimated_time_remaining: '1-2 days',
}
const UPDATE = 'score_update'
const LEADS = 30
const PER_SECOND = 10

/** Milestones that are sent to leads in turn, each once, until they are told to stop. */
export async function startTraffic(service: Service, partner: TestPartner) {
  const leads = leadsOf(service, partner)
  const leadIds = await Promise.all(Array.from({ length: LEADS }, () => leads.start()))
  /** When Temporal had taken each milestone of a lead. */
  const taken = new Map<number, number[]>(leadIds.map((id) => [id, []]))
  const stopping = new AbortController()
  const send = async () => {
    for (let turn = 0; !stopping.signal.aborted; turn += 1) {
      const leadId = leadIds[turn % LEADS] ?? 0
      await service.referrals.signal(leadId, UPDATE, { id: String(turn), event_payload: GAINS })
      taken.get(leadId)?.push(Date.now())
      await delay(1000 / PER_SECOND, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const sending = send()
  const stop = async () => {
    stopping.abort()
    await sending
  }
  atEnd(stop)
  const webhooksOf = (leadId: number) =>
    leads.arrivals(leadId).filter(({ event }) => event.data.event_name === UPDATE)
  return {
    leadIds,
    stop,
    /** Resolves once every milestone has come to the endpoint. */
    arrived: () =>
      partner.endpoint.until(() =>
        [...taken].every(([leadId, sent]) => webhooksOf(leadId).length >= sent.length),
      ),
    /** How many milestones of each lead were taken, recorded and delivered, and the slowest's milliseconds to its webhook. */
    async outcome() {
      const counts = []
      let slowest = 0
      for (const [leadId, sent] of taken) {
        const webhooks = webhooksOf(leadId)
        const recorded = (await leads.names(leadId)).filter((name) => name === UPDATE).length
        counts.push({ taken: sent.length, recorded, delivered: webhooks.length })
        // they are recorded and sent in the order in which they were taken
        sent.forEach((at, index) => (slowest = Math.max(slowest, (webhooks[index]?.at ?? Infinity) - at)))
      }
      return { counts, slowest }
    },
  }
}
