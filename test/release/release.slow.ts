import { describe } from '@jest/globals'
import { product } from '../chaos/sabotage.ts'
import { releases } from './releases.ts'

// the same code under another name; release.nightly.ts has two builds
describe('a release by Worker Versioning', () => {
  releases(product)
})
