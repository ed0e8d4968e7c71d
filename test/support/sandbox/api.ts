import type { SandboxDependencies } from '../../../src/sandbox/routes.ts'
import { readLeadClock } from '../../../src/sandbox/lead-time.ts'
import type { Sql } from '../../../src/database/sql.ts'

/** What the sandbox gives an API that runs without Temporal: what becomes of a request needs that. */
export const sandboxOf = (sql: Sql): SandboxDependencies => ({
  scenarios: { requireTemporal: async () => {}, run: async () => 'done' },
  simulate: async (_, { events }) => events.map(() => ({ outcome: 'accepted', event_id: null })),
  clocks: {
    async advance(leadId) {
      const clock = await readLeadClock(sql, leadId)
      if (clock === undefined) throw new Error(`there is no lead ${leadId}`)
      return { clock, happened: [] }
    },
    isMoving: async () => false,
  },
  sinkBase: () => 'http://127.0.0.1:1/v1',
})
