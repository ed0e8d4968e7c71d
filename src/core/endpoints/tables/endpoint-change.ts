import { defineEntity, p } from '@mikro-orm/core'
import { type EndpointChangeState, endpointChangeStates } from '../decisions/endpoint-change.ts'
import { instant, oneOf } from '../../database/columns.ts'
import { Endpoint } from './endpoint.ts'

/** A URL that a partner asked for: at most one is a candidate. */
export const EndpointChange = defineEntity({
  name: 'EndpointChange',
  tableName: 'endpoint_changes',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    endpoint: () => p.manyToOne(Endpoint).deleteRule('restrict').index(),
    state: p.text().$type<EndpointChangeState>(),
    url: p.text(),
    ciphertext: p.text(),
    /** The key that asked, as the audit names it: `key 12`. */
    requestedBy: p.text(),
    requestedAt: instant().defaultRaw('clock_timestamp()'),
    settledAt: instant().nullable(),
  },
  checks: [{ name: 'endpoint_changes_state_check', expression: oneOf('state', endpointChangeStates) }],
  indexes: [
    {
      name: 'endpoint_changes_candidate_unique',
      expression:
        "create unique index endpoint_changes_candidate_unique on endpoint_changes (endpoint_id) where state = 'candidate'",
    },
  ],
})
