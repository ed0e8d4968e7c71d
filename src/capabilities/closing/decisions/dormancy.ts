/** How long a lead stays open after its partner was told that nothing happens. */
export const DORMANCY_NOTICE_DAYS = 30
/** Who closes it, as the audit names who asked. */
export const DORMANCY = 'dormancy'
/** Of a partner, in one email: the next month tells of more. */
export const MOST_IN_A_DIGEST = 1000
/** After how long a lead that was funded, and is not mortgage ready, is shown to staff. */
export const STALLED_AFTER_DAYS = 730
