import { setTimeout as delay } from 'node:timers/promises'
import type { ServerResponse } from 'node:http'
import { type Arrival, isSignedWith } from '../support/partner-endpoint.ts'
import { addPartnerWithEndpoint, type TestPartner } from '../support/service.ts'
import type { Deployment } from './deployment.ts'
import type { WebhookRequest } from './evidence.ts'
import type { Ask } from './partner-api.ts'
import { type Random, randomOf } from './random.ts'

/** How a partner's endpoint behaves while the load goes on; afterwards, each takes everything. */
const characters = ['steady', 'flaky', 'away', 'changing'] as const

export interface ChaosPartner extends TestPartner {
  character: (typeof characters)[number]
}

/**
 * Four partners. One endpoint always works; one answers 500, resets, hangs, or is slow; one is away for a while; and one
 * partner pauses and resumes its endpoint.
 *
 * @param journal gets every request that comes to any of them.
 */
export async function addPartners(
  { sql, encryptionKey }: Pick<Deployment, 'sql' | 'encryptionKey'>,
  seed: number,
  journal: WebhookRequest[],
) {
  const partners: ChaosPartner[] = []
  const random = randomOf(seed, 'endpoints')
  const conditions = { healed: false, slow: false }
  for (const character of characters) {
    const partner = { ...(await addPartnerWithEndpoint(sql, encryptionKey)), character }
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

function entryOf({ id: partnerId, endpoint }: ChaosPartner, arrival: Arrival, journal: WebhookRequest[]) {
  const { id, body, timestamp, event } = arrival
  const entry: WebhookRequest = {
    partnerId,
    id,
    leadId: event.data.lead_id,
    sequence: event.data.sequence,
    body,
    verified: isSignedWith(endpoint.secret, arrival),
    ageSeconds: Date.now() / 1000 - timestamp,
    at: performance.now(),
    answeredAt: null,
    status: null,
  }
  journal.push(entry)
  return entry
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

/** What partners do to their endpoints within `spanMs`. */
export function startEndpointChanges(partners: ChaosPartner[], ask: Ask, spanMs: number): Promise<unknown> {
  const began = performance.now()
  const until = (share: number) => delay(Math.max(0, began + share * spanMs - performance.now()))
  return Promise.all(
    partners.map(async (partner) => {
      if (partner.character === 'away') {
        await until(0.3)
        await partner.endpoint.close()
        await until(0.6)
        await partner.endpoint.open()
      }
      if (partner.character !== 'changing') return
      for (const share of [0.2, 0.6]) {
        await until(share)
        await ask(partner, 'pause-endpoint', {})
        await until(share + 0.1)
        await ask(partner, 'resume-endpoint', {})
      }
    }),
  )
}
