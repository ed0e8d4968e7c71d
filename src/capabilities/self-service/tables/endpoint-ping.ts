import { defineEntity, p } from '@mikro-orm/core'
import type { PingOutcome } from '../../../core/endpoints/decisions/endpoint.ts'
import { instant } from '../../../core/database/columns.ts'
import { Endpoint } from '../../../core/endpoints/tables/endpoint.ts'

/** A signed test request that is no event, which a partner asked for. */
export const EndpointPing = defineEntity({
  name: 'EndpointPing',
  tableName: 'endpoint_pings',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    endpoint: () => p.manyToOne(Endpoint).deleteRule('restrict').index(),
    requestedAt: instant().defaultRaw('clock_timestamp()'),
    finishedAt: instant().nullable(),
    outcome: p.json<PingOutcome>().nullable(),
  },
  indexes: [
    {
      name: 'endpoint_pings_running_unique',
      expression:
        'create unique index endpoint_pings_running_unique on endpoint_pings (endpoint_id) where finished_at is null',
    },
  ],
})
