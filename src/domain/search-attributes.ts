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
  /** When the lead's latest event was recorded. */
  LastEventAt: 'Datetime',
} as const
