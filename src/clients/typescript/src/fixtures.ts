import { type WebhookEvent, webhookTypes } from './api.ts'
import { requireSecret, signatureOf } from './signatures.ts'

/** Events and signed requests for your own tests, without a network. */

type LeadEvent = Extract<WebhookEvent, { data: { lead_id: number } }>

const DAY_MS = 24 * 3_600_000
const START = new Date('2026-03-02T15:04:05Z')
const GAINS = {
  experian_gain: 12,
  equifax_gain: 9,
  transunion_gain: 14,
  estimated_time_remaining: '30-60 days',
}

const isTest = (type: string) => type.startsWith('endpoint.')
/** A score update comes after 45 days, anything else after two. */
const MILESTONES = webhookTypes
  .filter((type) => !isTest(type))
  .flatMap((type) => Array.from({ length: type === 'score_update' ? 8 : 1 }, () => type))

export interface FixtureOptions {
  leadId?: number
  partnerLeadId?: string | null
  /** When the journey began. */
  start?: Date
}

/** One of each type, as they arrive. */
export function events(options: FixtureOptions = {}): WebhookEvent[] {
  const firsts = new Map(
    journey(options)
      .toReversed()
      .map((event) => [event.type, event]),
  )
  const data = { partner_id: 1, environment: 'sandbox' } as const
  const timestamp = isoOf(options.start ?? START)
  const tests = webhookTypes.filter(isTest).map((type) => ({ type, timestamp, data }))
  return [...[...firsts.values()].toReversed(), ...tests] as WebhookEvent[]
}

/** A whole journey, from `lead_received` by eight score updates to `mortgage_ready`, in its order. */
export function journey(options: FixtureOptions = {}): LeadEvent[] {
  const { leadId = 1, partnerLeadId = 'LOAN-1', start = START } = options
  const received = partnerLeadId === null ? null : { partner_lead_id: partnerLeadId }
  const payloads: Partial<Record<string, object | null>> = { lead_received: received, score_update: GAINS }
  let day = -2
  return MILESTONES.map((type, index) => {
    day += type === 'score_update' ? 45 : 2
    const timestamp = isoOf(new Date(start.getTime() + day * DAY_MS))
    const data = {
      event_id: `evt_0195550a-6b8a-7c31-9d2e-${String(leadId * 10_000 + index + 1).padStart(12, '0')}`,
      event_name: type,
      event_payload: payloads[type] ?? null,
      created_at: timestamp.replace('T', ' ').replace('Z', ''),
      lead_id: leadId,
      partner_lead_id: partnerLeadId,
      sequence: index + 1,
      environment: 'sandbox',
    }
    return { type, timestamp, data } as LeadEvent
  })
}

/** The signed request that the service would send now. */
export async function request(event: WebhookEvent, secret: string, at = new Date()) {
  requireSecret(secret)
  const id = 'event_id' in event.data ? String(event.data.event_id) : `msg_${crypto.randomUUID()}`
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const body = JSON.stringify(event)
  const signature = await signatureOf({ id, timestamp, body: new TextEncoder().encode(body) }, secret)
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  return { headers: { 'content-type': 'application/json', ...headers }, body }
}

const isoOf = (time: Date) => `${time.toISOString().slice(0, 19)}Z`
