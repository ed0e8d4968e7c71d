import {
  ActivityCancellationType,
  proxyActivities,
  setCurrentDetails,
  setDefaultSignalHandler,
} from '@temporalio/workflow'
import type { restoreActivities } from '../activities/restore.ts'
import { WAITING_QUEUE } from '../src/core/temporal/decisions/waiting-queue.ts'

type Activities = ReturnType<typeof restoreActivities>

const { TRY_CANCEL } = ActivityCancellationType

/** Takes as long as there are leads, and waits for each; a missing heartbeat shows a crash. */
const { takeOverLeads } = proxyActivities<Activities>({
  taskQueue: WAITING_QUEUE,
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  cancellationType: TRY_CANCEL,
})

/** Takes as long as there are partners; a missing heartbeat shows a crash. */
const { tellPartners } = proxyActivities<Activities>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  cancellationType: TRY_CANCEL,
})

const { finishRestore } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '250 milliseconds', maximumInterval: '10 seconds' },
  cancellationType: TRY_CANCEL,
})

/**
 * After the record may have gone back: id `restore-<generation>`. Every lead's workflow that may know more goes on with
 * what the record has, and the partners are told.
 */
export async function restore(generation: number): Promise<string> {
  setDefaultSignalHandler(() => {})
  const detailsOf = (step: string) =>
    `The record was restored, and is **generation ${generation}**. ${step} What was lost: \`npm run staff -- record show\`.`
  setCurrentDetails(detailsOf('Workflows that may know more go on with what it has.'))
  const { looked, unanswered } = await takeOverLeads()
  setCurrentDetails(detailsOf('Its partners are told.'))
  const partners = await tellPartners(generation)
  await finishRestore(generation)
  setCurrentDetails(detailsOf('All is done.'))
  return `${looked} leads looked at, ${unanswered} of them without an answer; ${partners} partners told`
}
