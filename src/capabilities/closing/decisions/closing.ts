/** How long a partner's request waits before it is carried out, so that a mistake can be noticed; 0 in a sandbox. */
export const CLOSING_DELAY_HOURS = 24
/** At least so many hours are left after a person was told: the date moves if the emails went out late. */
export const CLOSING_NOTICE_HOURS = 20
/** The id of the workflow that carries a closing out. */
export const closingId = (leadId: number) => `closing-${leadId}`

/** What its workflow needs to know of a lead's closing that is not over. */
export interface ClosingReview {
  partnerId: number
  dueInMs: number
  /** It waits until a person was told by email. */
  isAnnounced: boolean
  isTold: boolean
  /** Its lead is closed, whatever closed it: nobody has to be told any more. */
  isClosed: boolean
}
