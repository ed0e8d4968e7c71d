import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Config } from './schema.ts'

/** Which code a process runs, for its metrics and its log: the same for every process of a deployment. */
export interface Build {
  /** Of package.json. */
  version: string
  /** What Worker Versioning calls it, where it is set; else the commit; else the version. */
  build: string
  /** Empty where nobody says it. */
  commit: string
}

const LENGTH = 12
const packageFile = path.join(import.meta.dirname, '../../package.json')

type Settings = Pick<Config<'api'>, 'TEMPORAL_WORKER_BUILD_ID' | 'GIT_COMMIT'>

export function readBuild({ TEMPORAL_WORKER_BUILD_ID: id, GIT_COMMIT: commit = '' }: Settings): Build {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  return { version, build: id ?? (commit.slice(0, LENGTH) || version), commit }
}
