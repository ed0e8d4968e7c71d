import type { SandboxDependencies } from '../../../src/sandbox/dependencies.ts'
import { readLeadClock } from '../../../src/sandbox/lead-time.ts'
import type { Sql } from '../../../src/database/sql.ts'

/** What the sandbox gives an API that runs without Temporal: what becomes of a request needs that. */
export const sandboxOf = (sql: Sql): SandboxDependencies => ({
  scenarios: { requireTemporal: async () => {}, run: async () => 'done' },
  simulate: async (_, { events }) => events.map(() => ({ outcome: 'accepted', event_id: null })),
  clocks: {
    async advance(leadId) {
      const clock = await readLeadClock(sql, leadId)
      return clock && { kind: 'done', clock, happened: [] }
    },
    isMoving: async () => false,
  },
  sinkBase: () => 'http://127.0.0.1:1/v1',
})
