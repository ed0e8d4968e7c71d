/** From here on, leads are made up for a rehearsal, and in no table: no lender has as many. */
export const FIRST_MADE_UP_LEAD = 2_000_000_000

export const isMadeUp = (leadId: unknown): boolean =>
  typeof leadId === 'number' && leadId >= FIRST_MADE_UP_LEAD
