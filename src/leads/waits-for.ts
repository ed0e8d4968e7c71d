import type { AnyCloseReason } from './reasons.ts'
import type { MilestoneName } from './milestones.ts'

/** What says what a lead waits for. */
export interface LeadFacts {
  lead_id: number
  partner_id: number
  status: MilestoneName
  erased_at: Date | null
  closed_at: Date | null
  close_reason: AnyCloseReason | null
  workflow_started_at: Date | null
  /** Its partner's endpoint. */
  is_paused: boolean
  has_no_url: boolean
  /** The lead's first open webhook; `null` if none is. */
  event_id: string | null
  event_name: MilestoneName | null
  failures: number | null
  /** What its latest attempt was answered. */
  last_status: number | null
  last_error_code: string | null
  /** The first of its webhooks that was given up. */
  given_up_event_id: string | null
}

interface Waiting {
  /** What the lead waits for, in words that follow "waits for". */
  waitsFor: string
  since: Date | null
  /** The staff command that goes on from there. */
  next: string
}

/**
 * What a lead waits for, and what to do next. The first row that fits counts:
 *
 * | Facts                              | It waits for                        | Next                       |
 * | ---------------------------------- | ----------------------------------- | -------------------------- |
 * | erased                             | nothing                             | `lead show`                |
 * | open, its workflow was not started | its workflow                        | `workflow rebuild`         |
 * | a webhook is open, without a URL   | its partner's endpoint              | `endpoint show`            |
 * | a webhook is open, endpoint paused | its partner's endpoint              | `endpoint show`            |
 * | a webhook is open, and has failed  | the next attempt                    | `delivery list --lead`     |
 * | a webhook is open                  | its webhook                         | `delivery list --lead`     |
 * | a webhook was given up             | somebody who sends it again         | `delivery resend`          |
 * | closed                             | nothing                             | `lead show`                |
 * | otherwise                          | its next milestone                  | `lead show`                |
 */
export function waitsFor(lead: LeadFacts): Waiting {
  const { lead_id: id, given_up_event_id: givenUp } = lead
  const isOpen = lead.closed_at === null
  if (lead.erased_at !== null)
    return { waitsFor: 'nothing: it was erased', since: lead.erased_at, next: `lead show ${id}` }
  if (lead.workflow_started_at === null && isOpen)
    return { waitsFor: 'its workflow, which was not started', since: null, next: 'workflow rebuild' }
  if (lead.event_id !== null) return { ...waitsForWebhook(lead), since: null }
  if (givenUp !== null) {
    const what = `somebody to send ${givenUp} again, which was given up`
    return { waitsFor: what, since: null, next: `delivery resend ${givenUp}` }
  }
  const what = isOpen ? `the milestone after ${lead.status}` : `nothing: it was closed, ${lead.close_reason}`
  return { waitsFor: what, since: lead.closed_at, next: `lead show ${id}` }
}

function waitsForWebhook(lead: LeadFacts): Omit<Waiting, 'since'> {
  const webhook = `the webhook ${lead.event_name} (${lead.event_id})`
  const endpoint = `endpoint show ${lead.partner_id}`
  const deliveries = `delivery list --lead ${lead.lead_id}`
  if (lead.has_no_url) return { waitsFor: `a URL to send ${webhook} to`, next: endpoint }
  if (lead.is_paused) return { waitsFor: `its endpoint, which is paused, to take ${webhook}`, next: endpoint }
  const failures = lead.failures ?? 0
  if (failures === 0) return { waitsFor: webhook, next: deliveries }
  const answer = lead.last_status ?? lead.last_error_code ?? 'no answer yet'
  const times = failures === 1 ? 'once' : `${failures} times`
  return {
    waitsFor: `the next attempt at ${webhook}, which failed ${times}, last with ${answer}`,
    next: deliveries,
  }
}
