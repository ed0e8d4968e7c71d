import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { command, firstOf, type InboxSource, MOST_COUNTED } from '../staff/attention.ts'
import { outageSince } from './endpoint-health.ts'
import { describeReason, type EndpointPauser, type EndpointState } from './endpoint-state.ts'

interface Troubled {
  partner_id: number
  partner_name: string
  url: string | null
  state: EndpointState
  paused_by: EndpointPauser | null
  reason: string | null
  since: Date
  failing_since: Date | null
  /** Counted up to `most`. */
  webhooks: number
  leads: number
}

/** A single failure is no reason to call a partner: attempts follow within minutes. */
const FAILING_FOR = raw`interval '10 minutes'`

/**
 * Endpoints that take no webhooks: those that the service paused, those that a person paused or that have no URL while
 * webhooks wait, and those that fail; those with the most that waits first.
 */
async function troubledEndpoints(sql: Sql, most: number): Promise<Troubled[]> {
  const { rows } = await raw<Troubled>`
    select e.partner_id, partners.name as partner_name, e.url, e.state, e.paused_by, e.reason, e.since,
      failing.since as failing_since, waiting.webhooks, waiting.leads
    from endpoints e join partners on partners.id = e.partner_id
    cross join lateral (
      select count(*)::int as webhooks, count(distinct lead_id)::int as leads from (
        select lead_id from deliveries where partner_id = e.partner_id and state = 'pending' limit ${most}
      ) as open
    ) as waiting
    cross join lateral (
      select case when e.failing_since is not null then least(e.failing_since, ${outageSince}) end as since
    ) as failing
    where e.state = 'paused' and ((e.paused_by = 'service' and e.url is not null) or waiting.webhooks > 0)
      or e.state = 'active' and failing.since is not null
        and (e.incident is not null or failing.since < clock_timestamp() - ${FAILING_FOR})
    order by waiting.webhooks desc, coalesce(failing.since, e.since)`.execute(sql)
  return rows
}

interface Unsent {
  partner_id: number
  partner_name: string
  has_contact: boolean
  notices: number
  since: Date
}

/** Emails about endpoints that should have been sent an hour ago and are not stale, by partner. */
async function unsentNoticesByPartner(sql: Sql): Promise<Unsent[]> {
  const { rows } = await raw<Unsent>`
    select partners.id as partner_id, partners.name as partner_name, contact_email is not null as has_contact,
      count(*)::int as notices, min(owed_at) as since
    from notices join partners on partners.id = notices.partner_id
    where sent_at is null and owed_at between now() - interval '7 days' and now() - interval '1 hour'
    group by partners.id order by min(owed_at)`.execute(sql)
  return rows
}

type Endpoint = Awaited<ReturnType<typeof troubledEndpoints>>[number]

/** Endpoints that are paused or fail. */
export const endpointsInbox: InboxSource = {
  kind: 'endpoints',
  find: async ({ sql }, limit) => {
    const items = (await troubledEndpoints(sql, MOST_COUNTED)).map((endpoint) => ({
      what: whatOf(endpoint),
      since: endpoint.failing_since ?? endpoint.since,
      touches: { webhooks: endpoint.webhooks, leads: endpoint.leads },
      mend: mendOf(endpoint),
    }))
    return firstOf(items, limit)
  },
}

function whatOf({
  partner_id: partner,
  partner_name: name,
  url,
  state,
  reason,
  paused_by: by,
}: Endpoint): string {
  const who = `The endpoint of partner ${partner}, ${name},`
  if (url === null) return `${who} has no URL, and webhooks wait for one.`
  if (state !== 'paused') return `${who} fails: every attempt does. ${tell(partner)}`
  const why = `${who} is paused: ${describeReason(reason)}.`
  return by === 'service' ? `${why} ${tell(partner)}` : why
}

const tell = (partner: number) =>
  `Tell the partner what "endpoint show ${partner}" says; once the endpoint works, send what waits.`

const mendOf = ({ partner_id: partner, url }: Endpoint) =>
  command(url === null ? `endpoint set ${partner} https://…` : `endpoint resume ${partner}`)

/** Emails about endpoints that the mail server does not take. */
export const noticesInbox: InboxSource = {
  kind: 'emails about endpoints',
  find: async ({ sql }, limit) => {
    const items = (await unsentNoticesByPartner(sql)).map(
      ({ partner_id: partner, partner_name: name, ...row }) => ({
        what: `Emails about the endpoint of partner ${partner}, ${name}, are not sent: the mail server is away, or refuses ${row.has_contact ? 'the contact' : 'STAFF_EMAIL'}.`,
        since: row.since,
        touches: { emails: row.notices },
        mend: command(`partner contact ${partner} EMAIL`),
      }),
    )
    return firstOf(items, limit)
  },
}
