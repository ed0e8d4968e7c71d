/** How people who act for staff may be called, in the audit. */
export const STAFF_NAME = /^[^\p{Cc}]{1,100}$/u
