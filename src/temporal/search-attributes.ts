import type { Connection } from '@temporalio/client'
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common'
import {
  encodeSearchAttributeIndexedValueType as encode,
  type SearchAttributeKey,
} from '@temporalio/common/lib/search-attributes.js'
import { type ReferralState, statusOf } from '../leads/referral-state.ts'
import { dayOf, searchAttributes } from './names.ts'

type Attributes = typeof searchAttributes
const names = Object.keys(searchAttributes) as (keyof Attributes)[]

export const attributeKeys = Object.fromEntries(
  names.map((name) => [name, defineSearchAttributeKey(name, searchAttributes[name])]),
) as { [Name in keyof Attributes]: SearchAttributeKey<Attributes[Name]> }

/** The search attributes that every lead's workflow has. */
export function attributesOf(
  state: Pick<ReferralState, 'leadId' | 'partnerId' | 'seen' | 'lastEventAt'>,
  deliveries: 'ok' | 'failing' | 'held',
): SearchAttributePair[] {
  const { leadId, partnerId, lastEventAt } = state
  return [
    { key: attributeKeys.LeadId, value: leadId },
    { key: attributeKeys.PartnerId, value: partnerId },
    { key: attributeKeys.LeadStatus, value: statusOf(state) },
    { key: attributeKeys.DeliveryState, value: deliveries },
    { key: attributeKeys.LastEventAt, value: dayOf(lastEventAt) },
  ]
}

const codeOf = (name: keyof Attributes) => encode(searchAttributes[name]) ?? 0

type Services = Pick<Connection, 'operatorService'>

/**
 * The search attributes that the namespace lacks, or has with another type. A worker checks this before it starts: a
 * workflow that sets one of them would fail every task.
 */
export async function missingSearchAttributes(connection: Services, namespace: string) {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
  return names.filter((name) => customAttributes[name] !== codeOf(name))
}

/** Adds the missing ones; returns how many. */
export async function ensureSearchAttributes(connection: Services, namespace: string): Promise<number> {
  const missing = await missingSearchAttributes(connection, namespace)
  const added = Object.fromEntries(missing.map((name) => [name, codeOf(name)]))
  if (missing.length > 0)
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: added })
  return missing.length
}
