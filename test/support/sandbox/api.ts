import type { SandboxDependencies } from '../../../src/sandbox/routes.ts'

/** What the sandbox gives an API that runs without Temporal, where what becomes of a request cannot be known. */
export const sandboxOf = (): SandboxDependencies => ({
  referrals: {
    update: (async (_: number, { name }: { name: string }, [{ events }]: [{ events: object[] }]) =>
      name === 'simulate'
        ? events.map(() => ({ outcome: 'accepted', event_id: null }))
        : { happened: [], stopped: null }) as unknown as SandboxDependencies['referrals']['update'],
  },
  reachTemporal: async () => {},
  isMoving: async () => false,
  sinkBase: () => 'http://127.0.0.1:1/v1',
})
