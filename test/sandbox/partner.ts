import { randomUUID } from 'node:crypto'
import type { ScoreGains } from '../../src/leads/event-payloads.ts'
import { partnerCalls, type Service } from '../support/service.ts'
import { whileBusy } from '../support/while-busy.ts'

/** As much of the sandbox's answers as tests read. */
interface SandboxAnswer {
  lead_id: number
  data: {
    lead_id: number
    status: string
    now: string
    offset_seconds: number
    moving: boolean
    events: {
      event_id: string
      event_name: string
      event_payload: ScoreGains | null
      created_at: string
      sequence: number | null
    }[]
    happened: {
      at: string
      what: string
      sequence?: number | null
      attempt?: number
      status?: number | null
    }[]
    stopped?: string
    next: { what: string; at: string } | null
  }
  error?: { code: string; message: string }
}

/** A partner of the service, as it calls the sandbox. */
export async function sandboxPartner(service: Service, port: number | undefined) {
  const partner = await service.addPartner()
  const calls = partnerCalls(port, partner.key)
  async function post(path: string, body: object, headers?: Record<string, string>) {
    const answer = await calls.post(path, body, headers)
    return { status: answer.status, ...(answer.body as object as SandboxAnswer) }
  }
  const simulateOnce = (lead: number, sent: object, key: string) =>
    post('sandbox/simulate-event', { lead_id: lead, ...sent }, { 'idempotency-key': key })
  const advanceOnce = (lead: number, to: object) => post('sandbox/advance-clock', { lead_id: lead, ...to })
  return {
    ...partner,
    post,
    createLead: calls.createLead,
    simulateOnce,
    /** Until it is answered: with the same Idempotency-Key, a repeat records nothing twice. */
    simulate: (lead: number, sent: object, key: string = randomUUID()) =>
      whileBusy(() => simulateOnce(lead, sent, key)),
    advanceOnce,
    /** Until the clock has stopped: a repeat joins. */
    async advance(lead: number, to: object) {
      for (;;) {
        const answer = await whileBusy(() => advanceOnce(lead, to))
        if (answer.error?.code !== 'CLOCK_MOVING') return answer
      }
    },
    clock: (lead: number) => post('sandbox/get-clock', { lead_id: lead }),
    arrivals: (lead: number) =>
      partner.endpoint.arrivals.filter(({ event }) => event.data.lead_id === lead).map(({ event }) => event),
  }
}

export type SandboxPartner = Awaited<ReturnType<typeof sandboxPartner>>
