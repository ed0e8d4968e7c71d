import { sql as raw } from 'kysely'
import { oldRows, type Retained } from '../../database/retained.ts'

/** They sign nothing any more, and no URL needs them that may be switched to. */
export const expiredSecrets: Retained<{ RETENTION_ENDPOINTS_DAYS: number | null }> = {
  name: 'secrets',
  meaning: 'signing secrets that have expired: deleted',
  days: (settings) => settings.RETENTION_ENDPOINTS_DAYS,
  ...oldRows(
    'endpoint_secrets',
    'expires_at',
    raw<boolean>`not exists (
      select from endpoints
      where endpoints.id = endpoint_id
        and (candidate = endpoint_secrets.id or previous_secret = endpoint_secrets.id and previous_until > now())
    )`,
  ),
}
