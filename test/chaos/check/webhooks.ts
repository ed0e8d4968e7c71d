import { milestones, type MilestoneName } from '../../../src/core/leads/decisions/milestones.ts'
import type { Evidence, InjectedFault, WebhookRequest } from '../evidence.ts'
import { grouped, type Verdict, verdict } from './verdict.ts'

/** An attempt's lease: until then, its outcome can be written down. Requests in flight to one endpoint, at most. */
const LEASE_MS = 20_000
const ENDPOINT_CAP = 10
/** A frozen worker gives up a request that it began this long ago; beside it, a request takes 15 s at most. */
const OLDEST_SECONDS = 60

export function checkWebhooks({ requests, record, faults }: Evidence): Verdict[] {
  const events = new Map(record.events.map((event) => [event.id, event]))
  const deliveries = new Map(record.deliveries.map((delivery) => [delivery.event_id, delivery]))
  const byId = grouped(requests, ({ id }) => id)
  const worthy = record.events.filter(({ event_name: name }) => milestones[name as MilestoneName].webhook)
  const repeats = [...byId.values()].flatMap(repeatsOf)
  const causes = faults.filter(keepsFromRecord)
  const mostRepeats = causes.length * ENDPOINT_CAP * new Set(requests.map(({ partnerId }) => partnerId)).size
  return [
    verdict(
      'every webhook was accepted by its partner’s endpoint, or is listed as given up',
      worthy,
      (event) => {
        const isTaken = (byId.get(event.id) ?? []).some(isAccepted)
        const { state } = deliveries.get(event.id) ?? { state: 'missing' }
        return (
          !(isTaken && state === 'delivered') &&
          state !== 'given_up' &&
          `${event.id} is ${state}, taken: ${isTaken}`
        )
      },
    ),
    verdict('every request is of a recorded event, at its own partner’s endpoint', requests, (request) => {
      const event = events.get(request.id)
      const isOurs =
        event?.partner_id === request.partnerId &&
        event.lead_id === request.leadId &&
        deliveries.has(request.id)
      return (
        !isOurs && `${request.id} at partner ${request.partnerId}: ${event?.event_name ?? 'no such event'}`
      )
    }),
    verdict(
      'every attempt has the bytes of its delivery, and the webhook-id of its event alone',
      requests,
      (request) => {
        const isSame = deliveries.get(request.id)?.body === request.body
        return !(isSame && request.body.includes(request.id)) && request.id
      },
    ),
    verdict(
      'every signature verifies, and is made for its attempt',
      requests,
      ({ id, verified, ageSeconds }) => {
        return (
          !(verified && ageSeconds < OLDEST_SECONDS) &&
          `${id}: ${verified ? `${ageSeconds} s old` : 'not verified'}`
        )
      },
    ),
    verdict(
      'sequences count each lead’s webhooks, without gaps',
      byLead(record.deliveries),
      ([leadId, all]) => {
        const sequences = all.map(({ sequence }) => sequence).toSorted((a, b) => a - b)
        return (
          sequences.some((sequence, index) => sequence !== index + 1) && `lead ${leadId}: ${sequences.join()}`
        )
      },
    ),
    verdict('no webhook is sent before the one before it was accepted', byLeadOf(requests), ([leadId, all]) =>
      overtaking(leadId, all),
    ),
    verdict(
      'a webhook is sent again though accepted only if a fault kept a worker from recording that',
      repeats,
      ({ before, again }) => {
        const isCaused = causes.some(({ at, until }) => at <= before.at + LEASE_MS && until >= before.at)
        return !isCaused && `${again.id} again after ${Math.round(again.at - before.at)} ms`
      },
    ),
    {
      invariant: 'such a fault repeats at most the ten requests that an endpoint is given at a time',
      count: repeats.length,
      broken: repeats.length > mostRepeats ? [`${repeats.length} instead of at most ${mostRepeats}`] : [],
    },
  ]
}

const isAccepted = ({ status }: WebhookRequest) => status === 200
const byLead = (deliveries: Evidence['record']['deliveries']) =>
  grouped(deliveries, ({ lead_id: leadId }) => leadId)
const byLeadOf = (requests: WebhookRequest[]) => grouped(requests, ({ leadId }) => leadId)

/** Whatever a worker does, PostgreSQL is where it writes an outcome down. */
function keepsFromRecord({ kind, on }: InjectedFault): boolean {
  return kind !== 'latency' && (on.startsWith('worker ') || on === 'postgres' || on === 'worker-postgres')
}

/** Requests for what was accepted before, each with the one that was. */
function repeatsOf(requests: WebhookRequest[]) {
  return requests.flatMap((again, index) => {
    const before = requests.slice(0, index).findLast(isAccepted)
    return before === undefined ? [] : { before, again }
  })
}

function overtaking(leadId: number, requests: WebhookRequest[]): string | undefined {
  const acceptedAt = new Map<number, number>()
  for (const { sequence, answeredAt, status } of requests) {
    const earlier = acceptedAt.get(sequence) ?? Number.POSITIVE_INFINITY
    if (status === 200) acceptedAt.set(sequence, Math.min(earlier, answeredAt ?? earlier))
  }
  const early = requests.find(
    ({ sequence, at }) => sequence > 1 && at < (acceptedAt.get(sequence - 1) ?? Number.POSITIVE_INFINITY),
  )
  return early && `lead ${leadId}: webhook ${early.sequence} came before ${early.sequence - 1} was accepted`
}
