import { sql as raw } from 'kysely'
import { oldRows, type Retained } from '../../../core/database/retained.ts'

interface Settings {
  RETENTION_ENDPOINTS_DAYS: number | null
}

const days = (settings: Settings) => settings.RETENTION_ENDPOINTS_DAYS

/** The latest of an endpoint is shown to its partner. */
export const oldPings: Retained<Settings> = {
  name: 'pings',
  meaning: 'test requests to endpoints: deleted, but for the latest of each endpoint',
  days,
  ...oldRows(
    'endpoint_pings',
    'finished_at',
    raw<boolean>`exists (select from endpoint_pings as later
      where later.endpoint_id = endpoint_pings.endpoint_id and later.id > endpoint_pings.id)`,
  ),
}

/** The latest of an endpoint is shown to its partner. */
export const oldCertifications: Retained<Settings> = {
  name: 'certifications',
  meaning: 'certifications of endpoints: deleted, but for the latest of each endpoint',
  days,
  ...oldRows(
    'certifications',
    'finished_at',
    raw<boolean>`exists (
      select from endpoint_changes as own join endpoint_changes as any_change on any_change.endpoint_id = own.endpoint_id
      join certifications as later on later.change_id = any_change.id
      where own.id = certifications.change_id and later.id > certifications.id)`,
  ),
}

/** Settled ones without a certification; they hold a sealed secret. */
export const oldChanges: Retained<Settings> = {
  name: 'changes',
  meaning: 'settled changes of endpoints, with their sealed secrets: deleted',
  days,
  ...oldRows(
    'endpoint_changes',
    'settled_at',
    raw<boolean>`not exists (select from certifications where change_id = endpoint_changes.id)`,
  ),
}
