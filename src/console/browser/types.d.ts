import type {
  Attempt,
  Calls,
  calls,
  Delivery,
  Due,
  Event,
  Lead,
  LeadClosing,
  Endpoint,
} from '../../clients/typescript/src/api.ts'

export type {
  Attempt,
  Certification,
  CertificationCheck,
  Delivery,
  Due,
  EndpointCandidate,
  Event,
  FeedEvent,
  FieldProblem,
  LeadSummary,
  Endpoint,
  SinkWebhook,
} from '../../clients/typescript/src/api.ts'

type Answers = { [Name in keyof Calls as (typeof calls)[Name]['path']]: Calls[Name]['response'] }
/** Of a call, below `/v1`. */
export type Path = keyof Answers
export type Answer<Of extends Path> = Answers[Of]

/** An event with its webhook. */
export type Step = Omit<Event, 'event_name'> & { event_name: string; delivery: Delivery | undefined }

export interface LeadData {
  lead: Lead
  closing: LeadClosing | null
  steps: Step[]
  /** What holds its webhooks. */
  pausedEndpoint: Endpoint | null
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

/** What the address bar shows. */
export interface Route {
  name: string
  id: string
  query: URLSearchParams
}
