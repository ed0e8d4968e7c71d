import type { EndpointReading } from '../statements/health.ts'
import { formatTimestamp } from '../../values/timestamps.ts'

/** What `endpoint show` prints about recent attempts, waiting webhooks and probes. */
export function describeHealth({
  recent_attempts,
  last_success_at,
  last_error: error,
  oldest_waiting: oldest,
  next_attempt_at,
  next_probe_at,
}: EndpointReading) {
  return {
    'recent attempts': describeAttempts(recent_attempts),
    'last success': last_success_at,
    'last error': error && `${formatTimestamp(new Date(error.at))}: ${error.hint ?? error.error_code}`,
    'oldest waiting':
      oldest &&
      `${oldest.event_name} of lead ${oldest.lead_id} since ${formatTimestamp(oldest.waiting_since)}, ${oldest.event_id}`,
    'next attempt': next_attempt_at,
    'next probe': next_probe_at,
  }
}

function describeAttempts({
  count,
  success_rate: rate,
  duration_p50_ms: p50,
  duration_p95_ms: p95,
}: EndpointReading['recent_attempts']): string {
  if (rate === null) return 'none to this URL'
  return `${count}, of which ${Number((rate * 100).toFixed(2))}% succeeded; p50 ${p50} ms, p95 ${p95} ms`
}
