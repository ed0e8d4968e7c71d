/** What operators filter and sort workflows by in Temporal's Web UI. */
export const searchAttributes = {
  LeadId: 'Int',
  PartnerId: 'Int',
  LeadStatus: 'Keyword',
  DeliveryState: 'Keyword',
  NextScoreUpdateAt: 'Datetime',
} as const
