import type { ScoreGains } from '../leads/event-payloads.ts'
import type { SignalledMilestone } from '../leads/milestones.ts'
import type { CloseReason } from '../leads/reasons.ts'
import { SCORE_PERIOD_DAYS } from '../leads/score-dates.ts'

/**
 * `stopped`: production would pause the endpoint by now, the clock is at its limit, or the lead is full. `closed`: the lead
 * was closed.
 */
export type ScenarioEnd = 'done' | 'stopped' | 'closed'

/** What a scenario does next to its lead. */
export type Step =
  | { happens: SignalledMilestone; times?: number; gains?: ScoreGains }
  | { days: number }
  /** The borrower drops out: the lead is closed with this reason. */
  | { drops_out: CloseReason }

interface Scenario {
  /** For people. */
  about: string
  steps: readonly Step[]
}

const onboarded: readonly Step[] = [
  { happens: 'client_account_created' },
  { days: 1 },
  { happens: 'credit_scan_completed' },
]

const funded: readonly Step[] = [
  ...onboarded,
  { days: 2 },
  { happens: 'contract_signed' },
  { days: 4 },
  { happens: 'escrow_funded' },
]

const loss = (points: number, remaining: string): ScoreGains => ({
  experian_gain: -points,
  equifax_gain: -points - 3,
  transunion_gain: -points + 2,
  estimated_time_remaining: remaining,
})

/** Journeys that a partner can try its integration with: always the same events, in the same order, on the same days. */
export const scenarios = {
  mortgage_ready_in_a_year: {
    about: `A borrower funds the escrow account, gets a score update every ${SCORE_PERIOD_DAYS} days, and is mortgage ready after eight.`,
    steps: [...funded, { days: 8 * SCORE_PERIOD_DAYS }, { happens: 'mortgage_ready' }],
  },
  ready_after_two_updates: {
    about: 'A borrower whose scores recover quickly: mortgage ready after two score updates.',
    steps: [...funded, { days: 2 * SCORE_PERIOD_DAYS }, { happens: 'mortgage_ready' }],
  },
  stalled_before_escrow: {
    about:
      'A borrower signs the contract and never funds the escrow account: no score updates, however long you wait.',
    steps: [...onboarded, { days: 3 }, { happens: 'contract_signed' }, { days: 120 }],
  },
  scores_go_down: {
    about: 'A borrower whose scores fall twice before they rise: gains can be negative.',
    steps: [
      ...funded,
      { days: 10 },
      { happens: 'score_update', gains: loss(12, '210-240 days') },
      { days: 10 },
      { happens: 'score_update', gains: loss(5, '240-270 days') },
      { days: 2 * SCORE_PERIOD_DAYS - 20 },
    ],
  },
  chatty_borrower: {
    about:
      'A borrower with many questions. Chats are in the history of a lead, and are not sent as webhooks.',
    steps: [
      { happens: 'client_engaged_in_chat', times: 3 },
      ...onboarded,
      { happens: 'client_engaged_in_chat', times: 5 },
      { days: 2 },
      { happens: 'contract_signed' },
      { happens: 'client_engaged_in_chat', times: 4 },
    ],
  },
  dropped_out: {
    about: 'A borrower signs the contract and withdraws. The lead is closed and takes no more milestones.',
    steps: [
      ...onboarded,
      { days: 5 },
      { happens: 'contract_signed' },
      { days: 10 },
      { drops_out: 'withdrew' },
    ],
  },
} as const satisfies Record<string, Scenario>

export type ScenarioName = keyof typeof scenarios

export const scenarioNames = Object.keys(scenarios) as ScenarioName[]

/** `anything+<scenario>@example.com`: the scenario that a lead with this address runs; `undefined` for any other. */
export function scenarioOfEmail(email: string): ScenarioName | undefined {
  const [, name] = /\+([a-z_]+)@example\.com$/i.exec(email) ?? []
  return scenarioNames.find((known) => known === name?.toLowerCase())
}
