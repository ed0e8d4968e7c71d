/** What the load generator is asked to send, each body in its turn. */
export interface LoadJob {
  port: number
  path: string
  headers: Record<string, string>
  bodies: string[]
  connections: number
  seconds: number
  /**
   * Requests a second, sent on their dates whatever the answers do, each latency counted from its date; without
   * it each connection sends as soon as it has its answer.
   */
  rate?: number
}

export interface LoadResult {
  perSecond: number
  /** Answers other than 200, and requests without one. */
  failed: number
  p50: number
  p99: number
}
