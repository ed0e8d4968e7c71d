import { DAY_MS } from '../../values/durations.ts'

/** What operators filter and sort workflows by in Temporal's Web UI: ids, states and dates, nobody's data. */
export const searchAttributes = {
  LeadId: 'Int',
  PartnerId: 'Int',
  /** The lead's status, as the API answers it. */
  LeadStatus: 'Keyword',
  /** `ok`, `failing` (the endpoint refuses, it is tried again) or `held` (the endpoint is paused or not set). */
  DeliveryState: 'Keyword',
  /** Absent while no score update is planned. */
  NextScoreUpdateAt: 'Datetime',
  /** The day (UTC) of the lead's latest event: to the second, every event would be written to Temporal's visibility store. */
  LastEventAt: 'Datetime',
} as const

/** The beginning of a day, for `LastEventAt`. */
export const dayOf = (ms: number) => new Date(Math.floor(ms / DAY_MS) * DAY_MS)
