import { z } from 'zod'
import { ApiError } from '../../../../core/http/errors.ts'
import { webhookName } from '../../../../core/http/events.ts'
import { integer, timestamp } from '../../../../core/http/fields.ts'
import {
  errorCode,
  httpStatus,
  ofEvent,
  ofLead,
  success,
  webhookSequence,
} from '../../../../core/http/response-fields.ts'
import { strictly } from '../../../../core/http/schemas.ts'
import { formatTimestamp } from '../../../../core/values/timestamps.ts'
import { defaultMix, journeyKindNames, journeyKinds, type Mix } from '../decisions/journeys.ts'
import {
  FAULTS,
  LARGEST_SEED,
  LARGEST_WEIGHT,
  leadEnds,
  LISTED,
  LONGEST_HOURS,
  MOST_LEADS,
  MOST_REFUSED_LEADS,
  type Progress,
  type Report,
} from '../decisions/population.ts'
import type { PopulationRow } from '../statements/populations.ts'

/** For a population that does not exist, and for another partner's. */
export const unknownPopulation = () => new ApiError('NOT_FOUND', 'Population not found.')

export const populationId = integer(1, LARGEST_SEED).describe(
  'The population: the `population_id` that run-population returned.',
)

const kindsInWords = journeyKindNames
  .map((kind) => `\`${kind}\` (${journeyKinds[kind].weight}): ${journeyKinds[kind].about}.`)
  .join(' ')

const weights = Object.fromEntries(
  journeyKindNames.map((kind) => [kind, integer(0, LARGEST_WEIGHT).optional()]),
)

/** How often each kind is drawn. */
export const mix = z
  .strictObject(weights, strictly(weights, 'must be an object, such as {"steady_climb": 1}'))
  .refine((sent) => Object.values(sent).some((weight) => Number(weight) > 0), {
    message: 'must have a kind with a weight above 0',
  })
  .meta({ id: 'PopulationMix' })
  .describe(
    `How often each kind of journey is drawn, in proportion to the others; a kind that you leave out is not drawn. By default: ${kindsInWords}`,
  )

const faultFields = {
  one_in: integer(FAULTS.mostOften, FAULTS.leastOften).describe(
    'Of so many webhooks, about one is refused; its retry may be accepted.',
  ),
  status: integer(400, 599)
    .refine((status) => status !== 410, { message: 'must not be 410, which pauses your endpoint' })
    .default(503)
    .describe('The HTTP status of a refusal, other than 410; 503 by default.'),
}

/** How often the sink refuses. */
export const faults = z
  .strictObject(faultFields, strictly(faultFields, 'must be an object, such as {"one_in": 20}'))
  .meta({ id: 'PopulationFaults' })

const count = z.int().min(0)

const countsOfKinds = z
  .object(Object.fromEntries(journeyKindNames.map((kind) => [kind, count])))
  .meta({ id: 'PopulationKinds', description: 'A number for each kind of journey.' })

const countsOfEnds = z
  .object(Object.fromEntries([...leadEnds, 'unfinished'].map((end) => [end, count])))
  .meta({
    id: 'PopulationEnds',
    description:
      'How many journeys ended how. `played`: a year has passed. `refused`: your endpoint refused a webhook for so long that production would pause it. `unfinished`: the population ended before.',
  })

const countsOfWebhooks = z
  .object({
    accepted: count.describe('Webhooks that your endpoint accepted.'),
    attempts: count.describe('Requests to your endpoint, retries included.'),
    refused: count.describe('Of these, requests that it did not accept.'),
    repeated: count.describe('Webhooks that took more than one request.'),
  })
  .meta({ id: 'PopulationWebhooks' })

const slowAnswer = z
  .object({ lead_id: ofLead, event_id: ofEvent, event_name: webhookName, ms: count })
  .meta({ id: 'SlowAnswer' })

const unacceptedWebhook = z
  .object({
    lead_id: ofLead,
    event_id: ofEvent,
    event_name: webhookName,
    sequence: webhookSequence,
    state: z.string().describe('Of its delivery, as get-deliveries has it.'),
    attempts: count,
    status: httpStatus,
    error_code: errorCode,
  })
  .meta({ id: 'UnacceptedWebhook' })

const report = z
  .object({
    leads: countsOfEnds,
    kinds: countsOfKinds,
    webhooks: countsOfWebhooks,
    slowest: z
      .array(slowAnswer)
      .describe(`The ${LISTED.slowest} requests that your endpoint took longest for.`),
    never_accepted: z
      .object({
        count,
        webhooks: z.array(unacceptedWebhook).describe(`The first ${LISTED.neverAccepted}.`),
      })
      .meta({
        id: 'NeverAccepted',
        description:
          'Webhooks that your endpoint has not accepted; those of an erased borrower are canceled.',
      }),
    seconds: count.describe('How long it took.'),
  })
  .meta({ id: 'PopulationReport' })

const population = z
  .object({
    population_id: z.int(),
    status: z
      .enum(['running', 'canceling', 'done', 'canceled', 'stopped'])
      .describe(
        `\`stopped\`: your endpoint was paused or refused ${MOST_REFUSED_LEADS} leads for too long, or the population was not done within ${LONGEST_HOURS} hours.`,
      ),
    size: z.int().min(1).max(MOST_LEADS),
    seed: z.int().describe('With the same `size` and `mix`, it makes the same journeys.'),
    mix: countsOfKinds,
    faults: z
      .object({ one_in: z.int(), status: z.int() })
      .meta({ id: 'SinkFaults' })
      .nullable()
      .describe('How the sink refuses meanwhile; `null` if it does not.'),
    requested_at: timestamp,
    ended_at: timestamp.nullable().describe('`null` while it runs.'),
    progress: z
      .object({
        done: count.describe('Leads whose journey is over.'),
        of: count,
        webhooks: count.describe('Webhooks that your endpoint accepted.'),
        webhooks_per_second: z.number().describe('In the last seconds.'),
        late: count.describe('Webhooks that your endpoint refused, and that wait for their retry.'),
      })
      .meta({ id: 'PopulationProgress', description: 'Every few seconds anew.' }),
    report: report.nullable().describe('`null` while it runs.'),
  })
  .meta({ id: 'Population' })

export const populationResponse = z.object({ success, data: population })

export const foundPopulationResponse = z.object({
  success,
  data: population.nullable().describe('`null` without `population_id`, as long as you have none.'),
})

export type PopulationView = z.output<typeof population>

export function viewOf(row: PopulationRow): PopulationView {
  const { id, size, seed, faultOneIn, faultStatus, outcome, cancelRequestedAt, endedAt } = row
  return {
    population_id: id,
    status: outcome ?? (cancelRequestedAt === null ? 'running' : 'canceling'),
    size,
    seed,
    mix: inOrder(journeyKindNames, row.mix),
    faults: faultOneIn === null || faultStatus === null ? null : { one_in: faultOneIn, status: faultStatus },
    requested_at: formatTimestamp(row.requestedAt),
    ended_at: endedAt === null ? null : formatTimestamp(endedAt),
    progress: progressOf(row.progress ?? { done: 0, of: size, webhooks: 0, perSecond: 0, late: 0 }),
    report: row.report === null ? null : reportOf(row.report),
  }
}

const progressOf = ({ done, of, webhooks, perSecond, late }: Progress) => ({
  done,
  of,
  webhooks,
  webhooks_per_second: perSecond,
  late,
})

function reportOf({ leads, kinds, webhooks, slowest, neverAccepted, seconds }: Report) {
  const { accepted, attempts, refused, repeated } = webhooks
  return {
    leads: inOrder([...leadEnds, 'unfinished'] as const, leads),
    kinds: inOrder(journeyKindNames, kinds),
    webhooks: { accepted, attempts, refused, repeated },
    slowest: slowest.map(({ leadId, eventId, eventName, ms }) => ({
      lead_id: leadId,
      event_id: eventId,
      event_name: eventName,
      ms,
    })),
    never_accepted: {
      count: neverAccepted.count,
      webhooks: neverAccepted.webhooks.map((webhook) => ({
        lead_id: webhook.leadId,
        event_id: webhook.eventId,
        event_name: webhook.eventName,
        sequence: webhook.sequence,
        state: webhook.state,
        attempts: webhook.attempts,
        status: webhook.status,
        error_code: webhook.errorCode,
      })),
    },
    seconds,
  }
}

/** jsonb sorts the names of fields, and leaves out those that nothing was counted for. */
function inOrder<Name extends string>(names: readonly Name[], counts: Partial<Record<Name, number>>) {
  return Object.fromEntries(names.map((name) => [name, counts[name] ?? 0])) as Record<Name, number>
}

const exampleMix: Mix = defaultMix

/** For the reference. */
export const exampleView: PopulationView = {
  population_id: 3107,
  status: 'running',
  size: 100,
  seed: 42,
  mix: inOrder(journeyKindNames, exampleMix),
  faults: null,
  requested_at: '2026-03-09 10:30:00',
  ended_at: null,
  progress: { done: 12, of: 100, webhooks: 131, webhooks_per_second: 43.7, late: 0 },
  report: null,
}

export const exampleReport: PopulationView = {
  ...exampleView,
  status: 'done',
  faults: { one_in: 20, status: 503 },
  ended_at: '2026-03-09 10:30:31',
  progress: { done: 100, of: 100, webhooks: 1012, webhooks_per_second: 39.1, late: 0 },
  report: reportOf({
    leads: { played: 88, closed: 10, erased: 2 },
    kinds: defaultMix,
    webhooks: { accepted: 1012, attempts: 1063, refused: 51, repeated: 49 },
    slowest: [
      {
        leadId: 1042,
        eventId: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
        eventName: 'contract_signed',
        ms: 212,
      },
    ],
    neverAccepted: { count: 0, webhooks: [] },
    seconds: 31,
  }),
}
