import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { attemptsByDay, eventsByDay, NEWEST } from '../deliveries/daily.ts'
import { failingSince, readHealth } from '../endpoints/endpoint-health.ts'
import { describeReason, healthOf } from '../endpoints/endpoint-state.ts'
import { findEndpoint } from '../endpoints/switch-endpoint.ts'
import type { MailRefusal } from '../leads/onboarding-mail.ts'
import { ageText, durationText, fields, table } from '../staff/answer.ts'
import type { StaffContext } from '../staff/context.ts'
import { formatTimestamp } from '../values.ts'
import { noSuchPartner, requirePartner } from './require-partner.ts'

/** Onboarding emails of the last `days` that a limit refused, of a partner's newest leads, `most` at most. */
async function refusedMails(
  sql: Sql,
  partnerId: number,
  { days, most }: { days: number; most: number },
): Promise<{ refused: MailRefusal; leads: number }[]> {
  const { rows } = await raw<{ refused: MailRefusal; leads: number }>`
    select refused, count(*)::int as leads
    from (
      select id from leads where partner_id = ${partnerId} order by partner_id desc, id desc limit ${most}
    ) as newest join onboarding_mails on lead_id = newest.id
    where refused is not null and claimed_at > now() - ${days} * interval '1 day'
    group by refused order by refused`.execute(sql)
  return rows
}

const HEALTH_DAYS = 7
/** Of leads, for what their emails were refused for. */
const NEWEST_LEADS = 10_000

/** How a partner fares, on one page: what one reads before one answers its mail. */
export async function health({ sql }: StaffContext, partner: number) {
  const name = await requirePartner(sql, partner)
  const endpoint = await findEndpoint(sql, partner)
  if (endpoint === undefined) throw noSuchPartner(partner)
  const [reading, events, attempts, refused] = await Promise.all([
    readHealth(sql, partner),
    eventsByDay(sql, partner, HEALTH_DAYS),
    attemptsByDay(sql, partner, HEALTH_DAYS),
    refusedMails(sql, partner, { days: HEALTH_DAYS, most: NEWEST_LEADS }),
  ])
  const failing = await failingSince(sql, partner)
  const { health: state, reason, since } = healthOf({ ...endpoint, failingSince: failing })
  const held = endpoint.state === 'paused' ? endpoint.open_deliveries : 0
  const givenUp = events.reduce((sum, day) => sum + day.given_up, 0)
  const days = byDay(events, attempts)
  return {
    json: {
      partner_id: partner,
      name,
      endpoint: { health: state, reason, since, url: endpoint.url },
      open_webhooks: endpoint.open_deliveries,
      held_webhooks: held,
      given_up_webhooks: givenUp,
      oldest_waiting: reading.oldest_waiting,
      last_success_at: reading.last_success_at,
      last_error: reading.last_error,
      days,
      refused_emails: refused,
    },
    text: [
      fields({
        partner: `${partner}, ${name}`,
        endpoint: endpoint.url ?? 'none yet',
        health: `${state}: ${describeReason(reason)}`,
        since,
        'open webhooks': endpoint.open_deliveries,
        held,
        [`given up in ${HEALTH_DAYS} days`]: givenUp,
        'oldest waiting': oldestText(reading.oldest_waiting),
        'last success': reading.last_success_at,
        'last error': errorText(reading.last_error),
        'emails to borrowers refused': refused.map((row) => `${row.leads} ${row.refused}`).join(', '),
      }),
      days.length === 0 ? `No event in the last ${HEALTH_DAYS} days.` : daysTable(days),
      `Days are in UTC. The newest ${NEWEST} attempts, and deliveries in each state, are counted.`,
    ].join('\n\n'),
  }
}

type Reading = Awaited<ReturnType<typeof readHealth>>

const oldestText = (oldest: Reading['oldest_waiting']) =>
  oldest &&
  `${ageText(oldest.waiting_since)}: ${oldest.event_name} of lead ${oldest.lead_id}, ${oldest.event_id}`

const errorText = (error: Reading['last_error']) =>
  error && `${formatTimestamp(new Date(error.at))}: ${error.hint ?? error.error_code}`

type Events = Awaited<ReturnType<typeof eventsByDay>>[number]
type Attempts = Awaited<ReturnType<typeof attemptsByDay>>[number]
type Day = Omit<Events, 'day'> & Omit<Attempts, 'day'> & { day: string }

const NO_EVENTS = {
  events: 0,
  delivered: 0,
  given_up: 0,
  canceled: 0,
  open: 0,
  acceptance_p50_ms: null,
  acceptance_p95_ms: null,
}
const NO_ATTEMPTS = { attempts: 0, succeeded: 0, first_p50_ms: null, first_p95_ms: null }

/** An event is of the day on which it was recorded, an attempt of the day on which it was made. */
function byDay(events: Events[], attempts: Attempts[]): Day[] {
  const names = [...new Set([...events, ...attempts].map(({ day }) => day))].toSorted().toReversed()
  return names.map((day) => ({
    ...NO_EVENTS,
    ...NO_ATTEMPTS,
    ...events.find((each) => each.day === day),
    ...attempts.find((each) => each.day === day),
    day,
  }))
}

const both = (p50: number | null, p95: number | null) =>
  p50 === null || p95 === null ? null : `${durationText(p50)}, ${durationText(p95)}`

const daysTable = (days: Day[]) =>
  table(days, {
    day: 'day',
    events: 'events',
    delivered: 'delivered',
    'given up': 'given_up',
    open: 'open',
    'accepted after p50, p95': (row) => both(row.acceptance_p50_ms, row.acceptance_p95_ms),
    attempts: 'attempts',
    succeeded: ({ attempts, succeeded }) => (attempts === 0 ? null : shareText(succeeded / attempts)),
    'first attempt p50, p95': (row) => both(row.first_p50_ms, row.first_p95_ms),
  })

/** A share of all as a percentage. */
export const shareText = (share: number) => `${Number((share * 100).toFixed(2))}%`
