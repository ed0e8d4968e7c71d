import type { ScoreGains } from '../../src/leads/event-payloads.ts'
import { milestones, type SignalledMilestone } from '../../src/leads/milestones.ts'
import { type Random, randomOf } from './random.ts'

/** A milestone that somebody sends to a lead. */
export interface PlannedMilestone {
  name: SignalledMilestone
  /** Of one that may happen again. */
  id?: string
  gains?: ScoreGains
  way: 'signal' | 'update'
  /** Milliseconds after the lead's creation was planned. */
  atMs: number
  /** Sent once more after it was acknowledged. */
  twice: boolean
}

export interface PlannedLead {
  /** From 1 on; partners take turns. */
  number: number
  /** Milliseconds after the load began. */
  atMs: number
  /** The body of create-lead. */
  fields: Record<string, string>
  milestones: PlannedMilestone[]
}

/** A lead has two milestones in one of so many parts of the time in which leads are created. */
const PARTS = 16

const JOURNEY: SignalledMilestone[] = [
  'client_account_created',
  'client_engaged_in_chat',
  'credit_scan_completed',
  'contract_signed',
  'client_engaged_in_chat',
  'escrow_funded',
  'score_update',
  'score_update',
  'mortgage_ready',
]

/**
 * The leads of a run, at their dates whatever becomes of earlier ones: the same for the same seed and number.
 *
 * @param mark is in each field of a borrower but the phone: what no log, and nothing that Temporal keeps, may contain.
 */
export function planLeads(seed: number, leads: number, spanMs: number, mark: string): PlannedLead[] {
  const random = randomOf(seed, 'leads')
  return Array.from({ length: leads }, (_, index): PlannedLead => {
    const number = index + 1
    const fields = {
      first_name: `Ada ${mark}First${number}`,
      last_name: `Ó'Miller ${mark}Last${number}`,
      email: `${mark}.${number}@example.com`,
      phone: '+1 555-0100',
      ...(random.chance(0.8) && { partner_lead_id: `${mark}Loan${number}` }),
      ...(random.chance(0.5) && { fico_range: '550-579', loan_officer_id: `${mark}Officer${number % 7}` }),
      ...(random.chance(0.5) && { notes: `${mark}: declined,\n${'score below the minimum. '.repeat(3)}` }),
    }
    const atMs = Math.round((index * spanMs) / leads)
    return { number, atMs, fields, milestones: milestonesOf(number, spanMs / PARTS, random) }
  })
}

/** Most journeys are whole, some end early, and in some the milestones come in any order. */
function milestonesOf(lead: number, pauseMs: number, random: Random): PlannedMilestone[] {
  const names = random.chance(0.6) ? JOURNEY : JOURNEY.slice(0, random.between(2, JOURNEY.length))
  let atMs = 0
  return (random.chance(0.2) ? random.shuffled(names) : names).map((name, index) => {
    atMs += random.between(0, pauseMs)
    return {
      name,
      ...(!milestones[name].once && { id: `${name}-${lead}-${index}` }),
      ...(name === 'score_update' && random.chance(0.9) && { gains: gainsOf(random) }),
      way: random.chance(0.3) ? ('update' as const) : ('signal' as const),
      atMs,
      twice: random.chance(0.12),
    }
  })
}

function gainsOf(random: Random): ScoreGains {
  const gain = () => random.between(-20, 60)
  return {
    experian_gain: gain(),
    equifax_gain: gain(),
    transunion_gain: gain(),
    estimated_time_remaining: '60-90 days',
  }
}

/** What a milestone says: two that say the same are recorded once. */
export const factOf = ({ name, id }: Pick<PlannedMilestone, 'name' | 'id'>) =>
  milestones[name].once ? name : `${name}:${id}`

/** The different facts that are sent to a lead, each with the first that said it. */
export const factsOf = <Sent extends PlannedMilestone>({ milestones: sent }: { milestones: Sent[] }) =>
  new Map(sent.toReversed().map((milestone) => [factOf(milestone), milestone]))
