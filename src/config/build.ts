import { readFileSync } from 'node:fs'
import path from 'node:path'
import { hashOfSources, root } from './sources.ts'
import type { Config } from './schema.ts'

/** Which code a process runs, for its metrics and its log: the same for every process of a deployment. */
export interface Build {
  /** Of package.json. */
  version: string
  /** What Worker Versioning calls it, where it is set; else the commit; else a hash of the code itself. */
  build: string
  /** Empty where nobody says it. */
  commit: string
}

const LENGTH = 12

type Settings = Pick<Config<'api'>, 'TEMPORAL_WORKER_BUILD_ID' | 'GIT_COMMIT'>

export function readBuild({ TEMPORAL_WORKER_BUILD_ID: id, GIT_COMMIT: commit = '' }: Settings): Build {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
  // else two builds with one version could not be told apart without a setting
  return { version, build: id ?? (commit || hashOfSources()).slice(0, LENGTH), commit }
}
