import type { Connection } from '@temporalio/client'
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common'
import { encodeSearchAttributeIndexedValueType as encode } from '@temporalio/common/lib/search-attributes.js'
import { type ReferralState, statusOf } from '../leads/referral-state.ts'
import { dayOf, searchAttributes } from './names.ts'

export const attributeKeys = {
  LeadId: defineSearchAttributeKey('LeadId', 'INT'),
  PartnerId: defineSearchAttributeKey('PartnerId', 'INT'),
  LeadStatus: defineSearchAttributeKey('LeadStatus', 'KEYWORD'),
  DeliveryState: defineSearchAttributeKey('DeliveryState', 'KEYWORD'),
  NextScoreUpdateAt: defineSearchAttributeKey('NextScoreUpdateAt', 'DATETIME'),
  LastEventAt: defineSearchAttributeKey('LastEventAt', 'DATETIME'),
}

/** The search attributes a lead's workflow starts with, which saves its first task an upsert. */
export function startAttributes(state: ReferralState) {
  const { leadId, partnerId, lastEventAt } = state
  return new TypedSearchAttributes([
    { key: attributeKeys.LeadId, value: leadId },
    { key: attributeKeys.PartnerId, value: partnerId },
    { key: attributeKeys.LeadStatus, value: statusOf(state) },
    { key: attributeKeys.DeliveryState, value: 'ok' },
    { key: attributeKeys.LastEventAt, value: dayOf(lastEventAt) },
  ])
}

const codeOf = (type: 'INT' | 'KEYWORD' | 'DATETIME') => encode(type) ?? 0
const types = { Int: codeOf('INT'), Keyword: codeOf('KEYWORD'), Datetime: codeOf('DATETIME') }

type Services = Pick<Connection, 'operatorService'>

/**
 * The search attributes that the namespace lacks, or has with another type. A worker checks this before it starts: a
 * workflow that sets one of them would fail every task.
 */
export async function missingSearchAttributes(connection: Services, namespace: string): Promise<string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
  return Object.entries(searchAttributes)
    .filter(([name, type]) => Number(customAttributes[name]) !== types[type])
    .map(([name]) => name)
}

/** Adds the missing ones; returns how many. */
export async function ensureSearchAttributes(connection: Services, namespace: string): Promise<number> {
  const missing = await missingSearchAttributes(connection, namespace)
  if (missing.length > 0) {
    const wanted = Object.entries(searchAttributes).filter(([name]) => missing.includes(name))
    const added = Object.fromEntries(wanted.map(([name, type]) => [name, types[type]]))
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: added })
  }
  return missing.length
}
