import { endedLeads } from './capabilities/erasure/statements/ended-leads.ts'
import type { Config } from './config.ts'
import type { Retained } from './core/database/retained.ts'
import { oldAttempts } from './core/deliveries/statements/old-attempts.ts'
import { expiredSecrets } from './core/endpoints/statements/expired-secrets.ts'
import { oldNotices } from './core/endpoints/statements/old-notices.ts'
import { oldIdempotencyKeys } from './core/idempotency/statements/old-idempotency-keys.ts'
import { mailedAddresses } from './core/leads/statements/mailed-addresses.ts'

/** The settings of worker and staff that classes read. */
export type RetentionSettings = Pick<
  Config<'worker'>,
  'ERASURE_LOG' | Extract<keyof Config<'worker'>, `RETENTION_${string}`>
>

/** What is removed when it is old, in the order in which it is removed. */
export const retained: readonly Retained<RetentionSettings>[] = [
  endedLeads,
  oldAttempts,
  oldIdempotencyKeys,
  mailedAddresses,
  oldNotices,
  expiredSecrets,
]
