import { sabotagedProduct } from '../chaos/sabotage.ts'

/**
 * The folder of a build whose workflows do not fit the histories of the real one, and the other way round: it waits
 * before it records.
 */
export function badBuild(): string {
  return sabotagedProduct({
    about: 'a workflow waits before it records, without a patch',
    file: 'workflows/recording.ts',
    find: 'const recording = await recordMilestones(',
    replace: `await new Promise((resolve) => setTimeout(resolve, 5000))
    const recording = await recordMilestones(`,
  })
}
