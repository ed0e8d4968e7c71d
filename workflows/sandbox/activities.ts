import type { clockActivities } from '../../activities/sandbox/advance-clock.ts'
import type { scenarioActivities } from '../../activities/sandbox/scenario.ts'
import { WAITING_QUEUE } from '../../src/core/temporal/decisions/waiting-queue.ts'
import { policies } from '../policies.ts'
import { interruptible } from '../proxies.ts'

/** Waits for endpoints, while a tester waits for it. */
export const { advanceClock, findRetry } = interruptible<ReturnType<typeof clockActivities>>({
  ...policies.long,
  taskQueue: WAITING_QUEUE,
  heartbeatTimeout: '10 seconds',
})

/** What a scenario does to its lead: it waits for none of it here. */
export const { beginScenario, sendMilestones, readClock, dropOut, endScenario } = interruptible<
  ReturnType<typeof scenarioActivities>
>(policies.step)
