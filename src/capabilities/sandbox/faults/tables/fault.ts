import { defineEntity, p } from '@mikro-orm/core'
import { instant, oneOf } from '../../../../core/database/columns.ts'
import { ApiKey } from '../../../../core/partners/tables/api-key.ts'
import { Partner } from '../../../../core/partners/tables/partner.ts'
import { type FaultName, faultNames } from '../decisions/fault.ts'

/** A fault that a partner injected: the last one of its kind, by key and call. */
export const Fault = defineEntity({
  name: 'Fault',
  tableName: 'faults',
  properties: {
    key: () => p.manyToOne(ApiKey).primary().deleteRule('restrict'),
    fault: p.text().$type<FaultName>().primary(),
    /** The call that it happens to, as list-requests names it; empty if it happens to none. */
    call: p.text().primary(),
    partner: () => p.manyToOne(Partner).deleteRule('restrict'),
    times: p.integer(),
    timesLeft: p.integer(),
    /** In seconds. */
    retryAfter: p.integer().nullable(),
    /** What it happened to last, newest first. */
    happened: p.json<FaultHappened[]>().defaultRaw(`'[]'`),
    injectedAt: instant().defaultRaw('clock_timestamp()'),
    endsAt: instant(),
  },
  checks: [{ name: 'faults_fault_check', expression: oneOf('fault', faultNames) }],
  indexes: [{ name: 'faults_partner_index', properties: ['partner', 'fault'] }],
})

/** One time that a fault happened. */
export interface FaultHappened {
  /** In seconds. */
  at: number
  /** Of a call. */
  request_id?: string
  /** Of a score update. */
  lead_id?: number
}
