import { defineEntity, p } from '@mikro-orm/core'
import {
  type EndpointChangeKind,
  endpointChangeKinds,
  type EndpointChangeState,
  endpointChangeStates,
} from '../decisions/endpoint-change.ts'
import { instant, oneOf } from '../../database/columns.ts'
import { Endpoint } from './endpoint.ts'

/** A change of its endpoint that a partner asked for: at most one of a kind is open. */
export const EndpointChange = defineEntity({
  name: 'EndpointChange',
  tableName: 'endpoint_changes',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    endpoint: () => p.manyToOne(Endpoint).deleteRule('restrict').index(),
    kind: p.text().$type<EndpointChangeKind>(),
    state: p.text().$type<EndpointChangeState>(),
    url: p.text().nullable(),
    ciphertext: p.text(),
    /** How long the previous secret also signs, in hours. With a new URL, not at all. */
    overlapHours: p.integer().default(0),
    /** The key that asked, as the audit names it: `key 12`. */
    requestedBy: p.text(),
    requestedAt: instant().defaultRaw('clock_timestamp()'),
    /** Known once the emails about it are sent. */
    takesEffectAt: instant().nullable(),
    settledAt: instant().nullable(),
  },
  checks: [
    { name: 'endpoint_changes_kind_check', expression: oneOf('kind', endpointChangeKinds) },
    { name: 'endpoint_changes_state_check', expression: oneOf('state', endpointChangeStates) },
    { name: 'endpoint_changes_url_check', expression: "(kind = 'url') = (url is not null)" },
  ],
  indexes: [
    {
      name: 'endpoint_changes_open_unique',
      expression:
        "create unique index endpoint_changes_open_unique on endpoint_changes (endpoint_id, kind) where state in ('candidate', 'announced')",
    },
  ],
})
