import { setCurrentDetails, setDefaultSignalHandler } from '@temporalio/workflow'
import type { restoreActivities } from '../../activities/restore/restore.ts'
import { policies } from '../policies.ts'
import { interruptible } from '../proxies.ts'

type Activities = ReturnType<typeof restoreActivities>

const { takeOverLeads, tellPartners } = interruptible<Activities>(policies.long)
const { finishRestore } = interruptible<Activities>(policies.step)

/**
 * After the record may have gone back: id `restore-<generation>`. Every lead's workflow that may know more continues with
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
