/** How often a partner may begin again within 24 hours: its limits on erasures and closings begin again with it. */
export const MOST_RESETS_A_DAY = 20

/** The id of the workflow that erases a partner's leads. */
export const resetId = (partnerId: number) => `reset-${partnerId}`

/** A partner that begins again, as its workflow reads it. */
export interface ResetReview {
  leads: number
  /** How many are not erased, or not checked. */
  left: number
}

/** Where the workflow is: it erases all leads, so that no webhook is made of one, and then ends and checks them. */
export interface ResetProgress {
  step: 'erase' | 'check' | 'finish'
  /** The last lead that the step is done with. */
  after: number
}

export const RESET_BEGINS: ResetProgress = { step: 'erase', after: 0 }

/** @param last the last lead of a page; `null` if no more follow. */
export function afterPage({ step }: ResetProgress, last: number | null): ResetProgress {
  if (last !== null) return { step, after: last }
  return { step: step === 'erase' ? 'check' : 'finish', after: 0 }
}
