import type { clockActivities } from '../../activities/sandbox/advance-clock.ts'
import type { dateActivities } from '../../activities/sandbox/pass-dates.ts'
import type { scenarioActivities } from '../../activities/sandbox/scenario.ts'
import { policies } from '../policies.ts'
import { interruptible, lasting } from '../proxies.ts'

/** Waits for endpoints, while a tester waits for it. */
export const { advanceClock, findRetry } = interruptible<ReturnType<typeof clockActivities>>({
  ...policies.long,
  heartbeatTimeout: '10 seconds',
})

/** It waits for nothing, so it starts with the answer to the workflow task that asks for it. */
export const { passDates } = lasting<ReturnType<typeof dateActivities>>({
  ...policies.record,
  startToCloseTimeout: '5 seconds',
})

/** What a scenario does to its lead: it waits for none of it here. */
export const { beginScenario, sendMilestones, readClock, dropOut, endScenario } = interruptible<
  ReturnType<typeof scenarioActivities>
>(policies.step)
