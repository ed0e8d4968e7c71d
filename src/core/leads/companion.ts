import type { NewLead, WithLead } from './statements/new-lead.ts'

/** Something that comes with some leads, such as a scenario of a sandbox. */
export interface Companion {
  /** What to insert with the lead; `undefined`: nothing comes with it. */
  of(lead: NewLead): WithLead | undefined
  /** Called after each request whose lead has one, and after repeats of it: it may not have been started. */
  start(partnerId: number): void
}
