import { randomUUID } from 'node:crypto'
import type { ScoreGains } from '../../src/leads/event-payloads.ts'
import type { ScenarioName } from '../../src/sandbox/scenarios.ts'
import { LEAD } from '../support/leads.ts'
import { createdLead, type Service } from '../support/service.ts'
import { whileBusy } from '../support/while-busy.ts'

export interface SimulatedEvent {
  recorded: boolean
  event_id: string
  event_name: string
  event_payload: ScoreGains | null
  created_at: string
  sequence: number | null
}

export interface Happened {
  at: string
  what: string
  event_name?: string
  sequence?: number | null
  attempt?: number
  status?: number | null
}

export interface SandboxData {
  lead_id: number
  status: string
  now: string
  offset_seconds: number
  moving: boolean
  events: SimulatedEvent[]
  happened: Happened[]
  stopped?: string
  next: { what: string; at: string } | null
}

/** A partner of the service, as it calls the sandbox. */
export async function sandboxPartner(service: Service, port: number | undefined) {
  const partner = await service.addPartner()
  async function post(path: string, body: object, headers: Record<string, string> = {}) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/${path}`, {
      method: 'POST',
      headers: {
        authorization: `Service-Key ${partner.key}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as {
      lead_id: number
      data: SandboxData
      error?: { code: string; message: string }
    }
    return { status: response.status, ...answer }
  }
  const simulateOnce = (lead: number, sent: object, key: string) =>
    post('sandbox/simulate-event', { lead_id: lead, ...sent }, { 'idempotency-key': key })
  return {
    ...partner,
    post,
    /** @param scenario one that create-lead plays with it. */
    async createLead(scenario?: ScenarioName) {
      const email = scenario === undefined ? 'ada@example.com' : `ada+${scenario}@example.com`
      return createdLead(await post('create-lead', { ...LEAD, email }))
    },
    simulateOnce,
    /** Until it is answered: with the same Idempotency-Key, a repeat records nothing twice. */
    simulate: (lead: number, sent: object, key: string = randomUUID()) =>
      whileBusy(() => simulateOnce(lead, sent, key)),
    advanceOnce: (lead: number, to: object) => post('sandbox/advance-clock', { lead_id: lead, ...to }),
    /** Until the clock has stopped: a repeat joins. */
    async advance(lead: number, to: object) {
      for (;;) {
        const answer = await whileBusy(() => post('sandbox/advance-clock', { lead_id: lead, ...to }))
        if (answer.error?.code !== 'CLOCK_MOVING') return answer
      }
    },
    clock: (lead: number) => post('sandbox/get-clock', { lead_id: lead }),
    arrivals: (lead: number) =>
      partner.endpoint.arrivals.filter(({ event }) => event.data.lead_id === lead).map(({ event }) => event),
  }
}

export type SandboxPartner = Awaited<ReturnType<typeof sandboxPartner>>
