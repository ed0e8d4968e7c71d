import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow'
import { defineSearchAttributeKey, type SearchAttributeUpdatePair } from '@temporalio/common'
import { dayOf, searchAttributes } from '../src/core/leads/decisions/search-attributes.ts'
import { statusOf } from '../src/core/leads/decisions/referral.ts'
import { scoreDate } from '../src/core/leads/decisions/score-dates.ts'
import { deliveryState, type Journey } from './journey.ts'
import { isCadenceOn } from './score-updates.ts'

type Name = keyof typeof searchAttributes

function key<N extends Name>(name: N) {
  return defineSearchAttributeKey(
    name,
    searchAttributes[name].toUpperCase() as Uppercase<(typeof searchAttributes)[N]>,
  )
}

/** Makes the lead findable by where it stands. Each change is an event in the history, so only changes are sent. */
export function publishSearchAttributes(journey: Journey): void {
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
