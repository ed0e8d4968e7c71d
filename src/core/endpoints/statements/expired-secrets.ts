import { sql as raw } from 'kysely'
import { oldRows, type Retained } from '../../database/retained.ts'

/** They sign nothing any more. */
export const expiredSecrets: Retained<{ RETENTION_ENDPOINTS_DAYS: number | null }> = {
  name: 'secrets',
  meaning: 'signing secrets that have expired: deleted',
  days: (settings) => settings.RETENTION_ENDPOINTS_DAYS,
  ...oldRows('endpoint_secrets', 'expires_at', raw<boolean>`true`),
}
