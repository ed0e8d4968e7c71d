import type { Execution, RecordRows } from './collect.ts'
import type { FaultKind, Link, Target } from './fault-plan.ts'
import type { PlannedLead, PlannedMilestone } from './load-plan.ts'
import type { ChaosPartner } from './partners.ts'

/** All that a run leaves behind, for the checker. Times are in milliseconds on one monotonic clock. */
export interface Evidence {
  leads: LeadJournal[]
  calls: Call[]
  feeds: Feed[]
  /** What partners read of their leads while it went on, in that order. */
  reads: { leadId: number; at: number; view: View }[]
  /** What they read at the end, by lead id. */
  views: Map<number, View>
  requests: WebhookRequest[]
  faults: InjectedFault[]
  record: RecordRows
  workflows: Execution[]
  /** Processes of the service that ended though nobody killed them. */
  ends: string[]
  /** What must not be in Temporal's files and the logs, and is. */
  search: { files: number; leaks: string[] }
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

export interface LeadJournal extends Omit<PlannedLead, 'milestones'> {
  owner: ChaosPartner
  /** The Idempotency-Key of its create-lead. */
  key: string
  /** `null` when no create-lead was acknowledged. */
  leadId: number | null
  acknowledgedAt: number | null
  /** PostgreSQL came back without it. */
  isLost: boolean
  milestones: SentMilestone[]
}

export interface SentMilestone extends PlannedMilestone {
  /** When Temporal first acknowledged it; `null` if it never did. */
  acknowledgedAt: number | null
  tries: number
  lastError?: string
}

/** A lead and its history, as get-lead and get-events gave it. */
export interface View {
  lead: Record<string, unknown> & { status: string }
  events: { event_name: string; event_payload: unknown; created_at: string }[]
}

/** What a partner got that follows list-events, and goes on where a refusal says so. */
export interface Feed {
  partnerId: number
  /** The ids of events, in the order in which they came. */
  events: string[]
  refusals: string[]
}

/** A request that came to a partner's endpoint. */
export interface WebhookRequest {
  /** Whose endpoint it was. */
  partnerId: number
  id: string
  leadId: number
  sequence: number
  body: string
  /** Whether the public library makes the same signature. */
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
  /** When it was over, and what was killed had started again. */
  until: number
  /**
   * Processes that ended, stood still or had another time, connections that were reset, chunks of bytes that were lost,
   * workflows that were reset, leads that were lost.
   */
  hits: number
}
