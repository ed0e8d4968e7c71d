import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { command, firstOf, type InboxSource, MOST_COUNTED } from '../staff/attention.ts'
import { standstill } from '../temporal/standstill.ts'
import { leadsNow } from './lead.ts'

interface Unstarted {
  leads: number
  partners: number
  since: Date | null
}

/** Leads that have waited for their workflow for `olderThanMs`; `most` at most are counted, from an index of them alone. */
export async function countUnstarted(sql: Sql, olderThanMs: number, most: number): Promise<Unstarted> {
  const { rows } = await raw<Unstarted>`
    select count(*)::int as leads, count(distinct partner_id)::int as partners, min(created_at) as since from (
      select partner_id, created_at from leads
      where workflow_started_at is null
        and created_at < clock_timestamp() - ${olderThanMs} * interval '1 millisecond'
      order by created_at limit ${most}
    ) as unstarted`.execute(sql)
  return rows[0] ?? { leads: 0, partners: 0, since: null }
}

/** After how many days without an event, by the lead's own clock, somebody should look at an open lead. */
export const NEWS_WITHIN_DAYS = 365

/** The longest without news first: open leads that are not mortgage ready, which end by themselves. */
export async function leadsWithoutNews(sql: Sql, limit: number) {
  return sql
    .selectFrom('leads')
    .select(['id as lead_id', 'partner_id', 'status', 'last_event_at'])
    .where('closed_at', 'is', null)
    .where('status', '!=', 'mortgage_ready')
    .where('last_event_at', '<', raw<Date>`${leadsNow} - ${raw.lit(NEWS_WITHIN_DAYS)} * interval '1 day'`)
    .orderBy('last_event_at')
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Workflows try for seven days. */
const LOOKED_AT_DAYS = 8

interface Unsent {
  partner_id: number
  leads: number
  since: Date
  example: number
}

/** Onboarding emails that should have been sent an hour ago, by partner; `most` claims of each are looked at, the newest. */
async function unsentOnboardingMails(sql: Sql, most: number): Promise<Unsent[]> {
  const { rows } = await raw<Unsent>`
    select partners.id as partner_id, count(*)::int as leads, min(mail.claimed_at) as since, min(leads.id) as example
    from partners cross join lateral (
      select lead_id, claimed_at from onboarding_mails
      where partner_id = partners.id and refused is null
        and claimed_at < clock_timestamp() - interval '1 hour'
        and claimed_at > clock_timestamp() - ${LOOKED_AT_DAYS} * interval '1 day'
      order by claimed_at desc limit ${most}
    ) as mail join leads on leads.id = mail.lead_id
    where onboarding_sent_at is null and closed_at is null and erased_at is null
    group by partners.id order by count(*) desc, partners.id`.execute(sql)
  return rows
}

/** A worker starts them within seconds once it can. */
const UNSTARTED_MS = 60_000

/** Of each partner, the newest: a mail server that is away shows there. */
const CLAIMS = 2000

/** Leads without a workflow, while one can be started: else `temporal` says how many wait. */
export const unstartedInbox: InboxSource = {
  kind: 'leads without a workflow',
  find: async (context, limit) => {
    const { leads, partners, since } = await countUnstarted(context.sql, UNSTARTED_MS, MOST_COUNTED)
    if (leads === 0 || (await standstill(context)) !== undefined) return firstOf([], limit)
    const what = 'Leads have no workflow: nothing happens to them, and no webhook is sent.'
    return firstOf([{ what, since, touches: { leads, partners }, mend: command('workflow rebuild') }], limit)
  },
}

/** Onboarding emails that the mail server does not take. */
export const onboardingInbox: InboxSource = {
  kind: 'emails to borrowers',
  find: async ({ sql }, limit) => {
    const unsent = await unsentOnboardingMails(sql, CLAIMS)
    const items = unsent.map(({ partner_id: partner, leads, since, example }) => ({
      what: `Onboarding emails of partner ${partner} are not sent, that of lead ${example} for example: the mail server is away, or does not take the address. Its log says which. Mails that it will take wait until then. For an address that does not exist, ask the partner; if nobody can be reached: ${command(`lead close ${example} --reason unreachable`)}, which cannot be undone.`,
      since,
      touches: { leads },
      mend: 'read the log of the mail server',
    }))
    return firstOf(items, limit)
  },
}

/** Leads of which nothing has been heard for so long that somebody should ask: nothing closes them by itself. */
export const withoutNewsInbox: InboxSource = {
  kind: 'leads without news',
  find: async ({ sql }, limit) => {
    const leads = await leadsWithoutNews(sql, MOST_COUNTED)
    const [first] = leads
    if (first === undefined) return firstOf([], limit)
    const what = `Open leads have had no event for ${NEWS_WITHIN_DAYS} days. Ask their partners; "lead close" ends one.`
    const touches = { leads: leads.length, partners: new Set(leads.map((lead) => lead.partner_id)).size }
    const mend = command('lead list --without-news')
    return firstOf([{ what, since: first.last_event_at, touches, mend }], limit)
  },
}
