import { command, firstOf, type InboxSource, MOST_COUNTED } from '../../../staff/inbox.ts'
import { standstill } from '../../temporal/commands/standstill.ts'
import { unsentOnboardingMails } from '../statements/unsent-mails.ts'
import { countUnstarted } from '../statements/unstarted-counts.ts'
import { leadsWithoutNews, NEWS_WITHIN_DAYS } from '../statements/without-news.ts'

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
