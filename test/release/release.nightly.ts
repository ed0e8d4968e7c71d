import { describe } from '@jest/globals'
import { sabotagedProduct } from '../chaos/sabotage.ts'
import { releases } from './releases.ts'

/** It makes the same decisions, with other code. */
const compatibleBuild = sabotagedProduct({
  about: 'a workflow does one more thing that leaves no trace',
  file: 'workflows/recording.ts',
  find: 'const recording = await recordMilestones(',
  replace: `await Promise.resolve()
    const recording = await recordMilestones(`,
})

describe('a release by Worker Versioning', () => {
  releases(compatibleBuild)
})
