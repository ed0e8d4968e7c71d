import { setCurrentDetails, setDefaultSignalHandler } from '@temporalio/workflow'
import { finishRestore, takeOverLeads, tellPartners } from './activities.ts'

/**
 * After the record may have gone back: id `restore-<generation>`. Every lead's workflow that may know more goes on with
 * what the record has, and the partners are told.
 */
export async function restore(generation: number): Promise<string> {
  setDefaultSignalHandler(() => {})
  const show = (step: string) =>
    setCurrentDetails(
      `The record was restored, and is **generation ${generation}**. ${step} What was lost: \`npm run staff -- record show\`.`,
    )
  show('Workflows that may know more go on with what it has.')
  const { looked, unanswered } = await takeOverLeads()
  show('Its partners are told.')
  const partners = await tellPartners(generation)
  await finishRestore(generation)
  show('All is done.')
  return `${looked} leads looked at, ${unanswered} of them without an answer; ${partners} partners told`
}
