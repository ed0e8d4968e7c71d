import { defineSearchAttributeKey, type SearchAttributeUpdatePair } from '@temporalio/common'
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow'
import { milestones, signalledMilestones, statuses } from '../src/leads/milestones.ts'
import { aheadText } from '../src/leads/operator-text.ts'
import { statusOf } from '../src/leads/referral-state.ts'
import { scoreDate } from '../src/leads/score-dates.ts'
import { dayOf, searchAttributes } from '../src/temporal/names.ts'
import { deliveryState, type Journey, webhookName } from './journey.ts'
import { isCadenceOn } from './score-updates.ts'

/** Milestones that happen more than once. */
const repeatable = signalledMilestones.filter((name) => !milestones[name].once)

const date = (ms: number) => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** What an operator reads in the Temporal Web UI: ids, states and dates, never personal data. */
export function detailsOf(journey: Journey): string {
  return [headline(journey), ...facts(journey), ...notes(journey), whatToDo(journey)].join('\n\n')
}

function headline(journey: Journey): string {
  const { leadId, partnerId } = journey.state
  const status = statusOf(journey.state)
  const at = `**Lead ${leadId}** of partner ${partnerId} is at **${status}**`
  const words = `${milestones[status].meaning} (${statuses.indexOf(status) + 1} of ${statuses.length})`
  return `${at}${journey.phases.lead === 'open' ? '' : ' and **closed**'}: ${words}.`
}

function facts(journey: Journey): string[] {
  const { state } = journey
  const { received, recorded, repeated, refused, notUnderstood } = journey.counts
  const clock =
    state.offset === 0 ? [] : [`**Its clock** was moved: it runs ${aheadText(state.offset)} ahead`]
  const former = workflowInfo().continuedFromExecutionRunId
  const earlier =
    former === undefined ? [] : [`**Earlier history**: in run \`${former}\`, while Temporal keeps it`]
  const lines = [
    `**Last recorded**: ${state.lastEvent}, ${date(state.lastEventAt)}`,
    `**Webhooks**: ${describeDeliveries(journey)}`,
    `**Next score update**: ${describeScoreUpdate(journey)}`,
    `**Ends**: ${describeEnd(journey)}`,
    `**Signals**: ${received} received: ${recorded} recorded, ${repeated} repeated, ${refused} refused, ${notUnderstood} not understood`,
    ...clock,
    ...earlier,
  ]
  return [lines.map((line) => `- ${line}`).join('\n')]
}

function describeDeliveries(journey: Journey): string {
  const { next, last, failure } = journey.state
  if (next > last) return `all ${last} are settled`
  const open = `${last - next + 1} of ${last} open; `
  const first = webhookName(journey, next)
  switch (deliveryState(journey)) {
    case 'held':
      return `${open}**held** at ${first}: the partner’s endpoint is paused or not set. Nothing is lost; they go out in order once it is resumed`
    case 'failing':
      return `${open}**failing** at ${first}: ${times(failure?.failures ?? 1)} (${failure?.reason ?? 'unknown'}). It is tried again by itself: *Pending Activities* shows when${last > next ? '. The others wait for it' : ''}`
    default:
      return `${open}sending ${first}`
  }
}

const times = (count: number) => (count === 1 ? 'failed once' : `failed ${count} times in a row`)

function describeScoreUpdate(journey: Journey): string {
  const { anchor, endsAt, period } = journey.state
  if (isCadenceOn(journey)) return `number ${period}, ${date(scoreDate(anchor ?? 0, period))}`
  if (journey.phases.lead !== 'open') return 'none, the lead is closed'
  return endsAt === null ? 'none before escrow_funded' : 'none, the borrower is mortgage ready'
}

function describeEnd({ state, closeReason, phases }: Journey): string {
  if (phases.lead === 'over') {
    const sent =
      phases.webhooks === 'held'
        ? 'what is held is sent once the endpoint is resumed'
        : 'nothing is left to send'
    return `it has ended (${closeReason ?? 'canceled'}), and ${sent}`
  }
  if (phases.lead !== 'open')
    return `now (${closeReason ?? 'closed in the record'}), once nothing is to be sent`
  return state.endsAt === null
    ? '30 days after mortgage_ready'
    : `${date(state.endsAt)}, taking late facts until then`
}

function notes(journey: Journey): string[] {
  if (journey.notes.length === 0) return []
  const lines = journey.notes.toReversed().map(({ at, what, why }) => `- ${date(at)} \`${what}\` ${why}`)
  return ['**Ignored, or gone wrong** (the latest first)', lines.join('\n')]
}

function whatToDo(journey: Journey): string {
  const { leadId } = journey.state
  if (journey.phases.lead === 'over')
    return `All of it, with every attempt, and webhooks to resend: \`npm run staff -- lead show ${leadId}\``
  return [
    '**What can be done here**',
    [
      `- *Send a Signal* with a milestone’s name when it happened and is missing above. Without an \`{"id": "…"}\`, ${repeatable.join(' and ')} count each time`,
      '- *Send a Signal* `send_now` to try the open webhook now',
      '- *Request Cancellation*, or `close`, when the borrower dropped out; open webhooks still go out',
      '- *Terminate* and *Reset* lose and double nothing: within five minutes the lead goes on from the record, and with what had arrived',
      `- All of it, with every attempt: \`npm run staff -- lead show ${leadId}\``,
    ].join('\n'),
  ].join('\n\n')
}

type Name = keyof typeof searchAttributes

function key<N extends Name>(name: N) {
  return defineSearchAttributeKey(
    name,
    searchAttributes[name].toUpperCase() as Uppercase<(typeof searchAttributes)[N]>,
  )
}

/** Makes the lead findable by where it stands. Each change is an event in the history, so only changes are sent. */
function publishSearchAttributes(journey: Journey): void {
  const { state } = journey
  const wanted: SearchAttributeUpdatePair[] = [
    { key: key('LeadId'), value: state.leadId },
    { key: key('PartnerId'), value: state.partnerId },
    { key: key('LeadStatus'), value: statusOf(state) },
    { key: key('DeliveryState'), value: deliveryState(journey) },
    { key: key('NextScoreUpdateAt'), value: nextScoreUpdateAt(journey) },
    { key: key('LastEventAt'), value: dayOf(state.lastEventAt) },
  ]
  const published = workflowInfo().typedSearchAttributes
  const changed = wanted.filter(
    ({ key: name, value }) => comparable(published.get(name)) !== comparable(value),
  )
  if (changed.length > 0) upsertSearchAttributes(changed)
}

function nextScoreUpdateAt(journey: Journey): Date | null {
  const { anchor, period } = journey.state
  return isCadenceOn(journey) ? new Date(scoreDate(anchor ?? 0, period)) : null
}

function comparable(value: unknown): unknown {
  return value instanceof Date ? value.getTime() : (value ?? null)
}

/** Tells operators where the lead is: its details in the Web UI, and its search attributes. */
export function publish(journey: Journey): void {
  setCurrentDetails(detailsOf(journey))
  publishSearchAttributes(journey)
}

/**
 * Does it once the messages of this moment are taken: a flood of signals comes in one go. Code that changes the lead says so,
 * because a condition that looks for changes would cost each workflow task another round.
 */
export function publishSoon(journey: Journey): void {
  if (journey.publishing) return
  journey.publishing = true
  void Promise.resolve().then(() => {
    journey.publishing = false
    publish(journey)
  })
}
