import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client'
import type { Logger } from 'pino'
import { keepTurning } from './in-flight.ts'
import { TASK_QUEUE } from './names.ts'

/** Temporal may come back without its data at any time: then leads wait for the comparison. */
const INTERVAL_MS = 10_000
const CALL_LIMIT_MS = 5000

const { SKIP } = ScheduleOverlapPolicy

/** Periodic work: each is a Temporal Schedule, and the workflow that it starts. */
export const schedules = {
  comparison: { every: '5 minutes', summary: 'Starts missing workflows, wakes late ones' },
  retention: { every: '1 day', summary: 'Removes old data' },
} as const
export type ScheduleName = keyof typeof schedules

/**
 * Creates the schedules that Temporal does not have, until `signal` aborts: at once, and again after Temporal has come back
 * without them. Then, and when a worker starts, the comparison begins at once.
 */
export async function keepSchedules(
  client: Client,
  { log, signal }: { log: Pick<Logger, 'info' | 'warn'>; signal: AbortSignal },
): Promise<void> {
  let isDue = true
  const loop = {
    everyMs: INTERVAL_MS,
    turn: () =>
      client.withDeadline(Date.now() + CALL_LIMIT_MS, async () => {
        for (const name of Object.keys(schedules) as ScheduleName[]) {
          if (!(await create(client, name))) continue
          log.info({ schedule: name }, 'created a schedule in Temporal')
          isDue = true
        }
        if (isDue) await client.schedule.getHandle('comparison').trigger(SKIP)
        isDue = false
      }),
    onFailure: (err: unknown) =>
      log.warn({ err }, 'cannot create the schedules in Temporal; trying again every ten seconds'),
  }
  await keepTurning(loop, { signal })
}

/** False if it is there already. */
async function create(client: Client, name: ScheduleName): Promise<boolean> {
  const { every, summary } = schedules[name]
  try {
    await client.schedule.create({
      scheduleId: name,
      spec: { intervals: [{ every }] },
      action: {
        type: 'startWorkflow',
        workflowType: name,
        workflowId: name,
        taskQueue: TASK_QUEUE,
        staticSummary: summary,
      },
      // one run makes up for all that an outage missed
      policies: { overlap: SKIP, catchupWindow: every },
    })
    return true
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false
    throw error
  }
}
