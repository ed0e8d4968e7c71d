/** What the API answers about a lead, and what the console makes of it. */

export interface LeadEvent {
  event_name: string
  // eslint-disable-next-line typescript/no-explicit-any
  event_payload: any
  created_at: string
}

export interface Attempt {
  number: number
  trigger: string
  started_at: string
  duration_ms: number | null
  status: number | null
  error_code: string | null
  hint: string | null
  request_headers: Record<string, string> | null
  response_headers: Record<string, string> | null
  /** Of one webhook only. */
  response_body?: string | null
}

export interface Delivery {
  event_id: string
  event_name: string
  lead_id: number
  lead_erased: boolean
  sequence: number
  state: string
  created_at: string
  next_attempt_at: string | null
  /** An earlier one of the lead. */
  waits_for: { event_id: string; sequence: number } | null
  settled_at: string | null
  body: string
  attempts: Attempt[]
}

export interface Arrival {
  webhook_id: string
  received_at: string
  attempt: number
  verified: boolean
  problem: string | null
  status: number
  delay_ms: number
  headers: Record<string, string>
  body: string
}

export interface Due {
  what: string
  at: string
}

/** An event with its webhook. */
export type Step = LeadEvent & {
  delivery: Delivery | undefined
}

export interface LeadData {
  // eslint-disable-next-line typescript/no-explicit-any
  lead: Record<string, any>
  closing: { at: string; reason: string } | null
  closedAt: string | null
  steps: Step[]
  /** What holds its webhooks; the reason continues after "because". */
  pausedEndpoint: { url: string | null; reason: string } | null
  /** Its webhooks fail or are held, and go to our sink. */
  isToSink: boolean
  next: Due | null
  /** By how many milliseconds its clock is. */
  ahead: number
}

/** A point of a webhook's retry line. */
export type Tick =
  | { kind: 'earlier'; count: number }
  | { kind: 'made'; at: string; attempt: Attempt }
  | { kind: 'now' }
  | { kind: 'next'; at: string }
  | { kind: 'later'; waitMs: number }

/** What a lead waits for; `at`: if that is known. */
export interface Upcoming {
  name: string
  at: string | null
  isByClock: boolean
}
