import type { RetentionClass } from '../decisions/retention.ts'
import { oldAttempts } from './attempts.ts'
import { expiredSecrets, oldCertifications, oldChanges, oldPings } from './endpoints.ts'
import { oldIdempotencyKeys } from './idempotency-keys.ts'
import { endedLeads } from './leads.ts'
import { oldNotices } from './notices.ts'
import { oldReads } from './reads.ts'
import type { Retained } from './retained.ts'

export const retained: Record<RetentionClass, Retained> = {
  leads: endedLeads,
  attempts: oldAttempts,
  idempotency_keys: oldIdempotencyKeys,
  notices: oldNotices,
  pings: oldPings,
  certifications: oldCertifications,
  changes: oldChanges,
  secrets: expiredSecrets,
  reads: oldReads,
}
