import { milestones } from '../../../src/leads/milestones.ts'
import type { Evidence, WebhookRequest } from '../evidence.ts'
import { type Verdict, verdict } from './verdict.ts'

/** A frozen worker gives up a request that it began this long ago; beside it, a request takes 15 s at most. */
const OLDEST_SECONDS = 60

export function checkWebhooks({ requests, record, faults }: Evidence): Verdict[] {
  const events = new Map(record.events.map((event) => [event.id, event]))
  const deliveries = new Map(record.deliveries.map((delivery) => [delivery.event_id, delivery]))
  const byId = Map.groupBy(requests, ({ id }) => id)
  const worthy = record.events.filter((event) => milestones[event.event_name].webhook)
  const byLead = Map.groupBy(record.deliveries, ({ lead_id: leadId }) => leadId)
  const requestsByLead = Map.groupBy(requests, ({ leadId }) => leadId)
  const clocks = faults.filter(({ kind }) => kind === 'clock')
  const isRestored = faults.some(({ kind }) => kind === 'restore')
  return [
    verdict('every webhook was accepted by its endpoint, or is listed as given up', worthy, ({ id }) => {
      const isTaken = (byId.get(id) ?? []).some(({ status }) => status === 200)
      const { state } = deliveries.get(id) ?? { state: 'missing' }
      const isRight = (isTaken && state === 'delivered') || state === 'given_up'
      return !isRight && `${id} is ${state}, taken: ${isTaken}`
    }),
    verdict('every request is of a recorded event, at its own partner’s endpoint', requests, (request) => {
      const event = events.get(request.id)
      const isOurs = event?.partner_id === request.partnerId && event.lead_id === request.leadId
      return !isOurs && `${request.id} at partner ${request.partnerId}: ${event?.event_name ?? 'unknown'}`
    }),
    verdict('every attempt has the bytes of its delivery, and its webhook-id', requests, ({ id, body }) => {
      return !(deliveries.get(id)?.body === body && body.includes(id)) && id
    }),
    verdict('every signature verifies, and is made for its attempt', requests, (request) => {
      const { id, verified, ageSeconds, at } = request
      const isStepped = clocks.some((clock) => at >= clock.at && at <= clock.until + OLDEST_SECONDS * 1000)
      const isFresh = isStepped || Math.abs(ageSeconds) < OLDEST_SECONDS
      return !(verified && isFresh) && `${id}: ${verified ? `${ageSeconds} s old` : 'not verified'}`
    }),
    verdict('sequences count each lead’s webhooks, without gaps', byLead, ([leadId, all]) => {
      const sequences = all.map(({ sequence }) => sequence).toSorted((a, b) => a - b)
      // a restore leaves out what may have been given
      const isNext = (sequence: number, before = 0) =>
        sequence === before + 1 || (isRestored && sequence > before)
      const isRight = sequences.every((sequence, index) => isNext(sequence, sequences[index - 1]))
      return !isRight && `lead ${leadId}: ${sequences.join()}`
    }),
    verdict('no webhook is sent before the one before it was accepted', requestsByLead, ([leadId, all]) => {
      const sequences = (byLead.get(leadId) ?? []).map(({ sequence }) => sequence)
      return overtaking(leadId, all, sequences)
    }),
  ]
}

function overtaking(leadId: number, requests: WebhookRequest[], sequences: number[]): string | undefined {
  const acceptedAt = new Map<number, number>()
  for (const { sequence, answeredAt, status } of requests) {
    const earlier = acceptedAt.get(sequence) ?? Number.POSITIVE_INFINITY
    if (status === 200) acceptedAt.set(sequence, Math.min(earlier, answeredAt ?? earlier))
  }
  const previous = (sequence: number) => Math.max(0, ...sequences.filter((each) => each < sequence))
  const early = requests.find(({ sequence, at }) => {
    const before = previous(sequence)
    return before > 0 && at < (acceptedAt.get(before) ?? Number.POSITIVE_INFINITY)
  })
  return early && `lead ${leadId}: webhook ${early.sequence} came before the one before it was accepted`
}
