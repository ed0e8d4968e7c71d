import type { ScoreGains } from '../../src/core/leads/decisions/event-payloads.ts'
import type { FaultKind, Link, Target } from './fault-plan.ts'
import type { PlannedMilestone } from './load-plan.ts'

/** All that a run leaves behind, for the checker. Times are in milliseconds on one monotonic clock. */
export interface Evidence {
  leads: LeadJournal[]
  calls: Call[]
  /** What partners read of their leads while it went on, in that order. */
  reads: Read[]
  /** What they read at the end, by lead id. */
  views: Map<number, View>
  /** Reads of another partner's lead, and of one that does not exist. */
  foreign: Call[]
  requests: WebhookRequest[]
  faults: InjectedFault[]
  record: RecordRows
  workflows: Execution[]
  /** Of a sample of leads: what became of all that was sent. */
  accounts: Account[]
  /** Processes of the service that ended though nobody killed them. */
  ends: string[]
  /** In Temporal's files and the logs: what must not be there, and in how many a workflow's id was found, which is. */
  search: { files: number; leaks: string[]; found: number }
}

/** One HTTP request of a partner, and its answer if there was one. */
export interface Call {
  path: string
  partnerId: number
  /** The same for each try of one request. */
  request: string
  try: number
  at: number
  tookMs: number
  /** `null` when no answer came. */
  status: number | null
  type: string | null
  body: string
}

export interface LeadJournal {
  partnerId: number
  /** The Idempotency-Key of its create-lead. */
  key: string
  fields: Record<string, string>
  /** What update-partner-info was acknowledged to have added. */
  metadata: Record<string, string>
  /** `null` when no create-lead was acknowledged. */
  leadId: number | null
  milestones: SentMilestone[]
}

export type SentMilestone = Pick<PlannedMilestone, 'name' | 'id' | 'gains' | 'way'> & {
  /** When Temporal first acknowledged it; `null` if it never did. */
  acknowledgedAt: number | null
  tries: number
  /** How an update was answered, each time. */
  answers: { outcome: string; event_id: string | null }[]
  lastError?: string
}

/** A lead and its history, as get-lead and get-events gave it. */
export interface View {
  lead: Record<string, unknown> & { status: string }
  events: ReadEvent[]
}

export interface ReadEvent {
  event_name: string
  event_payload: unknown
  created_at: string
}

export interface Read {
  leadId: number
  view: View
}

/** A request that came to a partner's endpoint. */
export interface WebhookRequest {
  /** Whose endpoint it was. */
  partnerId: number
  id: string
  leadId: number
  sequence: number
  body: string
  /** Whether the public library accepts the signature. */
  verified: boolean
  /** Seconds between `webhook-timestamp` and its arrival. */
  ageSeconds: number
  at: number
  /** When the endpoint answered. */
  answeredAt: number | null
  /** What it answered; `null` for nothing. */
  status: number | null
}

export interface InjectedFault {
  kind: FaultKind
  on: Target | Link
  at: number
  /** When it was over, what was killed had started again, and forgotten connections were given up. */
  until: number
  /** Processes that ended or stood still, connections that were reset, chunks of bytes that were late or lost. */
  hits: number
}

/** PostgreSQL's, at the end. */
export interface RecordRows {
  leads: { id: number; partner_id: number; status: string }[]
  events: RecordedEvent[]
  deliveries: { event_id: string; lead_id: number; sequence: number; state: string; body: string }[]
}

export interface RecordedEvent {
  id: string
  lead_id: number
  partner_id: number
  position: number
  event_name: string
  event_payload: ScoreGains | Record<string, unknown> | null
  created_at: Date
}

/** One run of a workflow. */
export interface Execution {
  workflowId: string
  runId: string
  status: string
  /** Of its workflow task, if one is pending. */
  taskAttempt: number
}

/** A lead's workflow on what was sent to it. */
export interface Account {
  leadId: number
  received: number
  decided: number
  waiting: number
  /** As far as its senders know. */
  acknowledged: number
}
