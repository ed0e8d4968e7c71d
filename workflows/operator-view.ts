import type { SearchAttributeUpdatePair } from '@temporalio/common'
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow'
import { milestones, statuses } from '../src/leads/milestones.ts'
import { aheadText, scoreDate } from '../src/leads/score-dates.ts'
import { statusOf } from '../src/leads/referral-state.ts'
import { attributeKeys, attributesOf } from '../src/temporal/search-attributes.ts'
import { deliveryState, isCadenceOn, type Journey } from './journey.ts'

const date = (ms: number) => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
const listed = (lines: string[]) => lines.map((line) => `- ${line}`).join('\n')

/** What an operator reads in the Temporal Web UI: ids, states and dates, never personal data. */
function detailsOf(journey: Journey): string {
  return [headline(journey), facts(journey), ...notes(journey), ...whatToDo(journey)].join('\n\n')
}

function headline({ state, phases }: Journey): string {
  const status = statusOf(state)
  const words = `${milestones[status].meaning} (${statuses.indexOf(status) + 1} of ${statuses.length})`
  const closed = phases.lead === 'open' ? '' : ' and **closed**'
  return `**Lead ${state.leadId}** of partner ${state.partnerId} is at **${status}**${closed}: ${words}.`
}

function facts(journey: Journey): string {
  const { state, counts } = journey
  const { received, recorded, repeated, refused, notUnderstood } = counts
  const lines = [
    `**Last recorded**: ${state.lastEvent}, ${date(state.lastEventAt)}`,
    `**Webhooks**: ${describeDeliveries(journey)}`,
    `**Next score update**: ${describeScoreUpdate(journey)}`,
    `**Ends**: ${describeEnd(journey)}`,
    `**Signals**: ${received} received: ${recorded} recorded, ${repeated} repeated, ${refused} refused, ${notUnderstood} not understood`,
  ]
  if (state.offset > 0) lines.push(`**Its clock** was moved: it runs ${aheadText(state.offset)} ahead`)
  return listed(lines)
}

function describeDeliveries(journey: Journey): string {
  const { next, last, failure } = journey.state
  if (next > last) return `all ${last} are settled`
  const open = `${last - next + 1} of ${last} open; `
  switch (deliveryState(journey)) {
    case 'held':
      return `${open}**held** at webhook ${next}: the partner’s endpoint is paused or not set. Nothing is lost; they go out in order once it is resumed`
    case 'failing':
      return `${open}**failing** at webhook ${next}: failure ${failure?.failures} (${failure?.reason}). It is tried again by itself: *Pending Activities* shows when. The others wait for it`
    default:
      return `${open}webhook ${next} is next: if it waits, *Pending Activities* says why`
  }
}

function describeScoreUpdate(journey: Journey): string {
  const { anchor, period } = journey.state
  if (!isCadenceOn(journey)) return 'none; they come from escrow_funded until mortgage_ready'
  return `number ${period}, ${date(scoreDate(anchor ?? 0, period))}`
}

function describeEnd({ state, closeReason, phases }: Journey): string {
  const why = closeReason ?? 'closed in the record, or canceled'
  if (phases.lead === 'over') return `it has ended (${why})`
  if (phases.lead !== 'open') return `now (${why}), once nothing is left to send`
  if (state.endsAt === null) return '30 days after mortgage_ready'
  return `${date(state.endsAt)}; late milestones are taken until then`
}

function notes(journey: Journey): string[] {
  if (journey.notes.length === 0) return []
  const lines = journey.notes.toReversed().map(({ at, what, why }) => `${date(at)} \`${what}\` ${why}`)
  return ['**Ignored, or gone wrong** (the latest first)', listed(lines)]
}

function whatToDo({ state, phases }: Journey): string[] {
  const show = `All of it, with every attempt: \`npm run staff -- lead show ${state.leadId}\``
  if (phases.lead === 'over') return [show]
  return [
    '**What can be done here**',
    listed([
      '*Send a Signal* with a milestone’s name when it happened and is missing above. Without an `{"id": "…"}`, client_engaged_in_chat and score_update count each time',
      '*Request Cancellation*, or the update `close`, when the borrower dropped out; open webhooks are still sent',
      '*Reset* loses nothing. After *Terminate*, the lead goes on from the record within five minutes; what had arrived and was not recorded is lost',
      show,
    ]),
  ]
}

/** Makes the lead findable by where it stands. Each change is an event in the history, so only changes are sent. */
function publishSearchAttributes(journey: Journey): void {
  const { state } = journey
  const nextUpdateAt = isCadenceOn(journey) ? new Date(scoreDate(state.anchor ?? 0, state.period)) : null
  const wanted: SearchAttributeUpdatePair[] = [
    ...attributesOf(state, deliveryState(journey)),
    { key: attributeKeys.NextScoreUpdateAt, value: nextUpdateAt },
  ]
  const published = workflowInfo().typedSearchAttributes
  const changed = wanted.filter(({ key, value }) => comparable(published.get(key)) !== comparable(value))
  if (changed.length > 0) upsertSearchAttributes(changed)
}

const comparable = (value: unknown) => (value instanceof Date ? value.getTime() : (value ?? null))

/** Tells operators where the lead is: its details in the Web UI, and its search attributes. */
export function publish(journey: Journey): void {
  setCurrentDetails(detailsOf(journey))
  publishSearchAttributes(journey)
}
