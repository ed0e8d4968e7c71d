import type { ScoreGains } from '../../../../core/leads/decisions/event-payloads.ts'
import type { SignalledMilestone } from '../../../../core/leads/decisions/milestones.ts'
import { type CloseReason, closeReasonNames } from '../../../../core/leads/decisions/reasons.ts'
import { type Draws, drawsOf } from './draws.ts'

/**
 * The kinds of journeys in a population, and how many of a hundred have each by default.
 *
 * | Kind                  | Onboarding                   | Then                                                   |
 * | --------------------- | ---------------------------- | ------------------------------------------------------ |
 * | `steady_climb`        | all four milestones          | eight score updates, `mortgage_ready` on day 365       |
 * | `steep_climb`         | all four                     | `mortgage_ready` after two or three score updates      |
 * | `slow_climb`          | all four                     | score updates up and down, never `mortgage_ready`      |
 * | `stalled`             | none to three of them        | nothing, without a word                                |
 * | `closed`              | none to all four             | the lead is closed within a month                      |
 * | `chatty`              | all four, with chats         | as `steady_climb`                                      |
 * | `late_milestones`     | all four, two of them swapped | as `steady_climb`                                     |
 * | `repeated_milestones` | all four, each twice         | as `steady_climb`                                      |
 * | `erased`              | one to all four              | the borrower is erased within a month                  |
 */
export const journeyKinds = {
  steady_climb: { weight: 30, about: 'mortgage ready after a year of score updates' },
  steep_climb: { weight: 15, about: 'mortgage ready after two or three score updates' },
  slow_climb: { weight: 15, about: 'scores go up and down, and a year is not enough' },
  stalled: { weight: 12, about: 'stops before a step of the onboarding, without a word' },
  closed: { weight: 10, about: 'closed at a step of the onboarding, for any reason' },
  chatty: { weight: 6, about: 'many chats, which are events and no webhooks' },
  late_milestones: { weight: 5, about: 'two milestones arrive in the wrong order' },
  repeated_milestones: { weight: 5, about: 'each milestone is reported twice, which counts once' },
  erased: { weight: 2, about: 'erased at a step of the onboarding' },
} as const satisfies Record<string, { weight: number; about: string }>

export type JourneyKind = keyof typeof journeyKinds
export const journeyKindNames = Object.keys(journeyKinds) as JourneyKind[]

/** How often each kind is drawn, in proportion to the others. */
export type Mix = Partial<Record<JourneyKind, number>>

export const defaultMix: Mix = Object.fromEntries(
  journeyKindNames.map((kind) => [kind, journeyKinds[kind].weight]),
)

/** A year of each lead's clock. */
export const DAYS = 365
/** Erasures are few, as a partner's are: what is drawn beyond these is closed instead. */
export const MOST_ERASED = 5

const SCORE_DAYS = 45
const A_MONTH = 30
const onboarding = [
  'client_account_created',
  'credit_scan_completed',
  'contract_signed',
  'escrow_funded',
] as const
const LAST: number = onboarding.length

/** What happens on a day of a lead, counted from its creation. */
export type Step = { day: number } & (
  { happens: readonly SignalledMilestone[] } | { closes: CloseReason } | { erases: true } | { ends: true }
)

/** The kind of each lead, the first of them first: a smaller population has the same ones, and fewer. */
export function drawKinds({ seed, size, mix }: { seed: number; size: number; mix: Mix }): JourneyKind[] {
  let erased = 0
  return Array.from({ length: size }, (_, index) => {
    const kind = drawKind(drawsOf(seed, index + 1), mix)
    if (kind === 'erased') erased += 1
    return kind === 'erased' && erased > MOST_ERASED ? 'closed' : kind
  })
}

function drawKind(draws: Draws, mix: Mix): JourneyKind {
  const weights = journeyKindNames.map((kind) => mix[kind] ?? 0)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let left = draws.from(1, Math.max(1, total))
  const index = weights.findIndex((weight) => (left -= weight) <= 0)
  return journeyKindNames[index] ?? 'steady_climb'
}

/** The journey of a population's nth lead, from 1: its steps in the order of their days. */
export function drawJourney(seed: number, number: number, kind: JourneyKind): Step[] {
  const draws = drawsOf(seed, number, 1)
  const days = onboardingDays(draws)
  return plans[kind](draws, days).toSorted((one, other) => one.day - other.day)
}

/** One milestone a day or two: the eighth score update falls within the year. */
function onboardingDays(draws: Draws): number[] {
  const firstDay = draws.from(0, 1)
  return onboarding.map((_, index) => firstDay + index)
}

type Plan = (draws: Draws, days: readonly number[]) => Step[]

const end: Step = { day: DAYS, ends: true }
const ready = (day: number): Step => ({ day, happens: ['mortgage_ready'] })

function onboarded(days: readonly number[], count = LAST, names: readonly SignalledMilestone[] = onboarding) {
  return names.slice(0, count).map((name, index): Step => ({ day: days[index] ?? 0, happens: [name] }))
}

/** A day of the month after the first `count` milestones. */
const dayAfter = (draws: Draws, days: readonly number[], count: number) =>
  (days[count - 1] ?? 0) + draws.from(1, A_MONTH)

const plans: Record<JourneyKind, Plan> = {
  steady_climb: (_, days) => [...onboarded(days), ready(DAYS), end],

  steep_climb: (draws, days) => {
    const updates = draws.from(2, 3)
    return [...onboarded(days), ready((days[LAST - 1] ?? 0) + updates * SCORE_DAYS + 1), end]
  },

  slow_climb: (_, days) => [...onboarded(days), end],

  stalled: (draws, days) => [...onboarded(days, draws.from(0, LAST - 1)), end],

  closed: (draws, days) => {
    const count = draws.from(0, LAST)
    const [first = 'other', ...others] = closeReasonNames
    const closes = draws.oneOf([first, ...others])
    return [...onboarded(days, count), { day: dayAfter(draws, days, count), closes }]
  },

  chatty: (draws, days) => [
    ...onboarded(days).flatMap((step): Step[] => [{ day: step.day, happens: chats(draws) }, step]),
    { day: draws.from(A_MONTH, DAYS - 1), happens: chats(draws) },
    ready(DAYS),
    end,
  ],

  late_milestones: (draws, days) => {
    const early = draws.from(0, LAST - 2)
    const names = onboarding.map((name, index) => {
      if (index === early) return onboarding[index + 1] ?? name
      return index === early + 1 ? (onboarding[early] ?? name) : name
    })
    return [...onboarded(days, LAST, names), ready(DAYS), end]
  },

  repeated_milestones: (_, days) => [
    ...onboarded(days),
    ...onboarded(days).map((step): Step => ({ ...step, day: step.day + 1 })),
    ready(DAYS),
    end,
  ],

  erased: (draws, days) => {
    const count = draws.from(1, LAST)
    return [...onboarded(days, count), { day: dayAfter(draws, days, count), erases: true }]
  },
}

const chats = (draws: Draws): SignalledMilestone[] =>
  Array.from({ length: draws.from(1, 4) }, () => 'client_engaged_in_chat')

/** By how many points a score update changes, at least and at most. */
const paces: Partial<Record<JourneyKind, readonly [number, number]>> = {
  steep_climb: [18, 40],
  slow_climb: [-8, 8],
}
const USUAL_PACE = [3, 16] as const
const MONTHS = 8

/** The gains of a lead's nth score update by date, from 1. */
export function drawGains(seed: number, number: number, kind: JourneyKind, period: number): ScoreGains {
  const draws = drawsOf(seed, number, 2, period)
  const [low, high] = paces[kind] ?? USUAL_PACE
  const monthsLeft = Math.max(1, (kind === 'steep_climb' ? 3 : MONTHS) - period + (low < 0 ? period : 0))
  return {
    experian_gain: draws.from(low, high),
    equifax_gain: draws.from(low, high),
    transunion_gain: draws.from(low, high),
    estimated_time_remaining: `${monthsLeft * 30}-${monthsLeft * 30 + 30} days`,
  }
}

const firstNames = [
  'Ada',
  'Blaise',
  'Claude',
  'Dorothy',
  'Emmy',
  'Grace',
  'Hedy',
  'Joan',
  'Kurt',
  'Mary',
] as const
const lastNames = [
  'Almond',
  'Birch',
  'Cedar',
  'Elm',
  'Fir',
  'Hazel',
  'Juniper',
  'Larch',
  'Maple',
  'Willow',
] as const

/** A borrower who does not exist. */
export function drawBorrower(seed: number, number: number): { first_name: string; last_name: string } {
  const draws = drawsOf(seed, number, 3)
  return { first_name: draws.oneOf(firstNames), last_name: draws.oneOf(lastNames) }
}
