import type { AnyCloseReason } from './reasons.ts'
import type { WebhookName } from './closed-webhook.ts'
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
  /** Since when its workflow's task fails. */
  failing_since: Date | null
  /** Its partner's endpoint. */
  is_paused: boolean
  pause_reason: string | null
  has_no_url: boolean
  /** The lead's first open webhook; `null` if none is. */
  event_id: string | null
  event_name: WebhookName | null
  failures: number | null
  next_attempt_at: Date | null
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
 * | erased                             | nothing                             | `erasure show`             |
 * | open, its workflow was not started | its workflow                        | `workflow rebuild`         |
 * | its workflow's task fails          | its workflow's repair               | `workflow repair`          |
 * | a webhook is open, without a URL   | its partner's endpoint              | `endpoint show`            |
 * | a webhook is open, endpoint paused | its partner's endpoint              | `endpoint show`            |
 * | a webhook is open, and has failed  | the next attempt                    | `delivery list --lead`     |
 * | a webhook is open                  | its webhook                         | `delivery list --lead`     |
 * | a webhook was given up             | somebody who sends it again         | `delivery resend`          |
 * | closed                             | nothing                             | `lead show`                |
 * | otherwise                          | its next milestone                  | `lead show`                |
 */
export function waitsFor(lead: LeadFacts): Waiting {
  const { lead_id: id, partner_id: partner, event_id: event, event_name: name } = lead
  const webhook = `the webhook ${name} (${event})`
  const show = `lead show ${id}`
  if (lead.erased_at !== null)
    return { waitsFor: 'nothing: it was erased', since: lead.erased_at, next: `erasure show ${id}` }
  if (lead.workflow_started_at === null && lead.closed_at === null)
    return { waitsFor: 'its workflow, which was not started', since: null, next: 'workflow rebuild' }
  if (lead.failing_since !== null)
    return { waitsFor: 'its workflow, whose task fails', since: lead.failing_since, next: 'workflow repair' }
  if (event !== null) {
    const deliveries = `delivery list --lead ${id}`
    if (lead.has_no_url)
      return { waitsFor: `a URL to send ${webhook} to`, since: null, next: `endpoint show ${partner}` }
    if (lead.is_paused)
      return {
        waitsFor: `its endpoint, which is paused, to take ${webhook}`,
        since: null,
        next: `endpoint show ${partner}`,
      }
    const answer = lead.last_status ?? lead.last_error_code ?? 'no answer yet'
    if ((lead.failures ?? 0) > 0)
      return {
        waitsFor: `the next attempt at ${webhook}, which failed ${lead.failures} times, last with ${answer}`,
        since: null,
        next: deliveries,
      }
    return { waitsFor: webhook, since: null, next: deliveries }
  }
  if (lead.given_up_event_id !== null)
    return {
      waitsFor: `somebody to send ${lead.given_up_event_id} again, which was given up`,
      since: null,
      next: `delivery resend ${lead.given_up_event_id}`,
    }
  if (lead.closed_at !== null)
    return { waitsFor: `nothing: it was closed, ${lead.close_reason}`, since: lead.closed_at, next: show }
  return { waitsFor: `the milestone after ${lead.status}`, since: null, next: show }
}
