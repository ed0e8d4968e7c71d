import type { WebhookName } from '../../../../core/leads/decisions/closed-webhook.ts'
import type { JourneyKind } from './journeys.ts'

/** The workflow that plays a population. */
export const populationId = (id: number) => `population-${id}`

export const MOST_LEADS = 1000
export const LARGEST_SEED = 2_147_483_647
/** Of each kind in a mix. */
export const LARGEST_WEIGHT = 1000
/** One answer of so many is a fault, at most and at least: with each answer a fault, nothing would ever be accepted. */
export const FAULTS = { mostOften: 2, leastOften: 1000 }

/**
 * How many leads of a population have something under way at a time. All partners share the workers: while others get
 * webhooks, it is one, which rests after each step.
 */
export const LEADS_IN_FLIGHT = { alone: 3, besideOthers: 1 }
/** So many of a partner's populations are kept, and for so long. */
export const KEPT = { populations: 20, days: 7 }
/** Longest lists of a report. */
export const LISTED = { slowest: 10, neverAccepted: 20 }
/** A population stops once its endpoint has refused so many leads for so long that production would pause it. */
export const MOST_REFUSED_LEADS = 3
/** And after so many hours: an endpoint that hangs would make it last for days. */
export const LONGEST_HOURS = 6

/** How a population ends. `stopped`: the endpoint did not accept enough of it. */
export const populationEnds = ['done', 'canceled', 'stopped'] as const
export type PopulationEnd = (typeof populationEnds)[number]

/**
 * How a lead's journey ended. `played`: a year has passed. `refused`: the endpoint refused one of its webhooks for so long
 * that production would pause it.
 */
export const leadEnds = ['played', 'closed', 'erased', 'refused'] as const
export type LeadEnd = (typeof leadEnds)[number]

/** How the sink answers to one webhook of so many. */
export interface Faults {
  status: number
  oneIn: number
}

/** What a population has done by now. */
export interface Progress {
  /** Leads whose journey is over. */
  done: number
  of: number
  /** Webhooks that were accepted. */
  webhooks: number
  /** In the last seconds. */
  perSecond: number
  /** Webhooks that were refused, and wait for their retry. */
  late: number
}

/** What came of it. Ids, names of milestones and numbers only. */
export interface Report {
  leads: Partial<Record<LeadEnd | 'unfinished', number>>
  kinds: Partial<Record<JourneyKind, number>>
  webhooks: {
    /** Accepted by the endpoint. */
    accepted: number
    /** Requests that were sent, retries included. */
    attempts: number
    /** Of these, those that the endpoint did not accept. */
    refused: number
    /** Webhooks that took more than one request. */
    repeated: number
  }
  slowest: SlowAnswer[]
  neverAccepted: { count: number; webhooks: NeverAccepted[] }
  seconds: number
}

export interface SlowAnswer {
  leadId: number
  eventId: string
  eventName: WebhookName
  ms: number
}

export interface NeverAccepted {
  leadId: number
  eventId: string
  eventName: WebhookName
  sequence: number
  state: string
  attempts: number
  status: number | null
  errorCode: string | null
}
