import { command, firstOf, type InboxSource, MOST_COUNTED } from '../../../staff/inbox.ts'
import { describeReason } from '../decisions/endpoint.ts'
import { troubledEndpoints, unsentNoticesByPartner } from '../statements/troubled.ts'

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
