/**
 * The milestones of a borrower's journey, in its order: the one table from which signals, webhooks, the status
 * rule, the console and the API's documentation derive. The database's checks of `leads.status` and of
 * `lead_events.event_name` name them too: a migration drops both and adds them anew.
 *
 * Source: interface specification, section 6, and its documented order of milestones.
 */

interface MilestoneRule {
  /** What happened, in words that operators and partners read. */
  readonly meaning: string
  /** Whether partners are told by webhook. */
  readonly webhook: boolean
  /** Whether it can happen only once to a lead; a repeat is noted and changes nothing. */
  readonly once: boolean
  /** Whether it can be a lead's status: the furthest milestone reached, in this table's order. */
  readonly status: boolean
  /** Which `event_payload` it carries; `null` for none. */
  readonly payload: 'lead_received' | 'score_update' | null
}

/** The rule of most milestones. */
const usual = { webhook: true, once: true, status: true, payload: null } as const

export const milestones = {
  lead_received: { ...usual, meaning: 'lead was created', payload: 'lead_received' },
  client_account_created: { ...usual, meaning: 'borrower logged in and completed onboarding' },
  credit_scan_completed: { ...usual, meaning: 'borrower completed credit scan' },
  client_engaged_in_chat: {
    meaning: 'borrower sent messages in chat',
    webhook: false,
    once: false,
    status: false,
    payload: null,
  },
  contract_signed: { ...usual, meaning: 'borrower signed the service contract' },
  escrow_funded: { ...usual, meaning: 'borrower funded the escrow account' },
  score_update: {
    ...usual,
    meaning: 'credit score update including per-bureau gains',
    once: false,
    payload: 'score_update',
  },
  mortgage_ready: {
    ...usual,
    meaning: 'borrower meets credit criteria and is ready to return to the lender',
  },
} as const satisfies Record<string, MilestoneRule>

export type MilestoneName = keyof typeof milestones

/** Milestones that arrive as signals. `lead_received` does not: only create-lead records it. */
export type SignalledMilestone = Exclude<MilestoneName, 'lead_received'>

export const milestoneNames = Object.keys(milestones) as MilestoneName[]

export const signalledMilestones = milestoneNames.filter(
  (name): name is SignalledMilestone => name !== 'lead_received',
)

/** Milestones that can be a lead's status, in the order of the journey. */
export const statuses = milestoneNames.filter((name) => milestones[name].status)

/** The status after `milestone`: it never goes back. */
export function furthest(status: MilestoneName, milestone: MilestoneName): MilestoneName {
  return statuses.indexOf(milestone) > statuses.indexOf(status) ? milestone : status
}
