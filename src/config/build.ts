import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
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

const root = path.join(import.meta.dirname, '../..')
const LENGTH = 12

type Settings = Pick<Config<'api'>, 'TEMPORAL_WORKER_BUILD_ID' | 'GIT_COMMIT'>

export function readBuild({ TEMPORAL_WORKER_BUILD_ID: id, GIT_COMMIT: commit = '' }: Settings): Build {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
  return { version, build: id ?? (commit.slice(0, LENGTH) || hashOfCode()), commit }
}

/** Two builds with one version are told apart without a setting. Read once, at the start. */
function hashOfCode(): string {
  const hash = createHash('sha256').update(readFileSync(path.join(root, 'package.json')))
  for (const folder of ['src', 'workflows', 'activities']) {
    const files = readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).toSorted()
    for (const file of files.filter((name) => /\.[jt]s$/.test(name)))
      hash.update(file).update(readFileSync(path.join(root, folder, file)))
  }
  return hash.digest('hex').slice(0, LENGTH)
}
