import { setTimeout as delay } from 'node:timers/promises'
import type { ServerResponse } from 'node:http'
import { type Arrival, isSignedWith } from '../support/partner-endpoint.ts'
import { addPartnerWithEndpoint, type TestPartner } from '../support/service.ts'
import type { Deployment } from './deployment.ts'
import type { WebhookRequest } from './evidence.ts'
import { type Random, randomOf } from './random.ts'

/** How a partner's endpoint behaves while the load goes on; afterwards, each takes everything. */
const characters = ['steady', 'flaky', 'away', 'changing'] as const
type Character = (typeof characters)[number]

export interface ChaosPartner extends TestPartner {
  character: Character
  /** Its signing secrets, the latest last, each with the date from which it signs, in seconds since the epoch. */
  secrets: { secret: string; since: number }[]
}

/** Between an attempt's beginning, when it reads the secrets, and its `webhook-timestamp`, at most. */
const SIGNING_SECONDS = 6

/**
 * Four partners. One endpoint always works; one answers 500, resets, hangs, or is slow; one is away for a while; and one
 * partner pauses and resumes its endpoint and changes its signing secret.
 *
 * @param journal gets every request that comes to any of them.
 */
export async function addPartners(
  { orm, encryptionKey }: Pick<Deployment, 'orm' | 'encryptionKey'>,
  seed: number,
  journal: WebhookRequest[],
) {
  const partners: ChaosPartner[] = []
  const random = randomOf(seed, 'endpoints')
  const conditions = { healed: false, slow: false }
  for (const character of characters) {
    const added = await addPartnerWithEndpoint(orm, encryptionKey)
    const partner = { ...added, character, secrets: [{ secret: added.endpoint.secret, since: 0 }] }
    partner.endpoint.answer = (arrival, response) => {
      const isFlaky = character === 'flaky' && !conditions.healed
      const fate = isFlaky ? fateOf(random) : { status: 200, afterMs: 0 }
      if (conditions.slow) fate.afterMs += random.between(1000, 4000)
      void answer(entryOf(partner, arrival, journal), response, fate)
    }
    partners.push(partner)
  }
  return { partners, conditions }
}

type Fate = { status: number | 'reset' | 'hang'; afterMs: number }

function fateOf(random: Random): Fate {
  const roll = random.next()
  if (roll < 0.12) return { status: 500, afterMs: 0 }
  if (roll < 0.18) return { status: 'reset', afterMs: 0 }
  if (roll < 0.2) return { status: 'hang', afterMs: 0 }
  return { status: 200, afterMs: roll < 0.35 ? random.between(200, 3000) : 0 }
}

function entryOf(partner: ChaosPartner, arrival: Arrival, journal: WebhookRequest[]): WebhookRequest {
  const { id, body, timestamp, event } = arrival
  const entry: WebhookRequest = {
    partnerId: partner.id,
    id,
    leadId: event.data.lead_id,
    sequence: event.data.sequence,
    body,
    verified: secretsAt(partner.secrets, timestamp).some((secret) => isSignedWith(secret, arrival)),
    ageSeconds: Date.now() / 1000 - timestamp,
    at: performance.now(),
    answeredAt: null,
    status: null,
  }
  journal.push(entry)
  return entry
}

/** The secret that signed then; just after it was replaced, also the one before. */
function secretsAt(secrets: ChaosPartner['secrets'], timestamp: number): string[] {
  const current = secrets.findLastIndex(({ since }) => since + SIGNING_SECONDS < timestamp)
  return secrets.slice(Math.max(0, current)).map(({ secret }) => secret)
}

async function answer(entry: WebhookRequest, response: ServerResponse, fate: Fate): Promise<void> {
  const { status, afterMs } = fate
  if (status === 'hang') return
  await delay(afterMs)
  if (status === 'reset') {
    response.destroy()
    return
  }
  // nobody takes an answer whose connection is gone
  if (response.destroyed) return
  entry.answeredAt = performance.now()
  entry.status = status
  response.writeHead(status).end()
}
