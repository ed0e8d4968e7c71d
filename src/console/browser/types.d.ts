/** What is wrong with a field of a body. */
export interface FieldProblem {
  field: string
  problem: string
}

export interface CallOptions {
  signal?: AbortSignal
  method?: 'POST' | 'GET'
  headers?: Record<string, string>
}

/** What the API or the network answered instead of a result. */
export interface FailureFacts {
  status: number
  code: string
  message: string
  requestId?: string | null
  /** How long to wait, at least, before the same call. */
  retryMs?: number
  /** The cursor to continue with. */
  next?: string
  fields?: FieldProblem[]
}

export interface FeedEvent {
  event_id: string
  event_name: string
  event_payload: unknown
  created_at: string
  lead_id: number
  partner_lead_id: string | null
  sequence: number | null
  arrived_at: number
}

export type LiveState = 'connecting' | 'live' | 'resting' | 'retrying'

/** What the address bar shows. */
export interface Route {
  name: string
  id: string
  query: URLSearchParams
}

export type Tone = 'good' | 'busy' | 'bad' | 'quiet' | 'accent'

/** What a state is called, and how it looks. */
export type States = Record<string, { text: string; tone: Tone }>
