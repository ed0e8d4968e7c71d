import type { WebhookEvent } from './api.ts'
import { type GenuineRequest, Webhooks } from './webhooks.ts'

/** Events and signed requests for your own tests, without a network. */

type LeadEvent = Extract<WebhookEvent, { data: { leadId: number } }>
type Milestone = LeadEvent['type']

const DAY_MS = 24 * 3_600_000
const GAINS = { experianGain: 12, equifaxGain: 9, transunionGain: 14, estimatedTimeRemaining: '30-60 days' }

export interface FixtureOptions {
  leadId?: number
  partnerLeadId?: string | null
  /** When the journey began. */
  start?: Date
}

/** One of each type, as they arrive. */
export function events(options: FixtureOptions = {}): WebhookEvent[] {
  const tests = (['endpoint.ping', 'endpoint.certification'] as const).map((type) => ({
    type,
    timestamp: options.start ?? START,
    data: { partnerId: 1, environment: 'sandbox' as const },
  }))
  const seen = new Set<string>()
  const firsts = journey(options).filter(({ type }) => !seen.has(type) && seen.add(type))
  return [...firsts, ...tests] as WebhookEvent[]
}

/** A whole journey, from `lead_received` by eight score updates to `mortgage_ready`, in its order. */
export function journey({
  leadId = 1,
  partnerLeadId = 'LOAN-1',
  start = START,
}: FixtureOptions = {}): LeadEvent[] {
  const updates = Array.from({ length: 8 }, (_, index) => ['score_update', 10 + 45 * (index + 1)] as const)
  const milestones: readonly (readonly [Milestone, number])[] = [
    ['lead_received', 0],
    ['client_account_created', 1],
    ['credit_scan_completed', 2],
    ['contract_signed', 5],
    ['escrow_funded', 10],
    ...updates,
    ['mortgage_ready', 372],
  ]
  return milestones.map(([type, day], index) => {
    const at = new Date(start.getTime() + day * DAY_MS)
    const data = {
      eventId: `evt_0195550a-6b8a-7c31-9d2e-${String(leadId).padStart(8, '0')}${String(index + 1).padStart(4, '0')}`,
      eventName: type,
      eventPayload: payloadOf(type, partnerLeadId),
      createdAt: at,
      leadId,
      partnerLeadId,
      sequence: index + 1,
      environment: 'sandbox',
    }
    return { type, timestamp: at, data } as LeadEvent
  })
}

/** What the service would send now. */
export function request(event: WebhookEvent, secret: string, at?: Date): Promise<GenuineRequest> {
  return new Webhooks({ secrets: secret }).sign(event, secret, { ...(at && { at }) })
}

const START = new Date('2026-03-02T15:04:05Z')

function payloadOf(type: Milestone, partnerLeadId: string | null) {
  if (type === 'score_update') return GAINS
  return type === 'lead_received' ? { partnerLeadId } : null
}
