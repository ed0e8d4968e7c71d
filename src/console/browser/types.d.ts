import type {
  Calls,
  calls,
  Delivery,
  Due,
  Event,
  Lead,
  LeadClosing,
} from '../../clients/typescript/src/api.ts'

export type {
  Attempt,
  Certification,
  Delivery,
  Due,
  Endpoint,
  EndpointCandidate,
  Event,
  FeedEvent,
  FieldProblem,
  LeadSummary,
  SinkWebhook,
} from '../../clients/typescript/src/api.ts'

type Answers = { [Name in keyof Calls as (typeof calls)[Name]['path']]: Calls[Name]['response'] }
/** The path of a call, below `/v1`. */
export type Path = keyof Answers
export type Answer<Of extends Path> = Answers[Of]

/** An event with its webhook. */
export type Step = Omit<Event, 'event_name'> & { event_name: string; delivery: Delivery | undefined }

export interface LeadData {
  lead: Lead
  closing: LeadClosing | null
  steps: Step[]
  next: Due | null
  /** By how many milliseconds the lead's clock is ahead. */
  ahead: number
}
