import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { temporaryFolder } from '../support/folder.ts'

/** The folder of the product as it is. */
export const product = path.join(import.meta.dirname, '../..')

const FILE = 'workflows/recording.ts'
const CALL = 'applyRecording(journey, await recordMilestones'

/**
 * A copy of the product whose workflows do not fit the histories of the real one, and the other way round: they wait before
 * they record.
 *
 * @returns its folder.
 */
export function makeBadBuild(): string {
  const folder = temporaryFolder()
  for (const name of ['src', 'workflows', 'activities', 'package.json', 'tsconfig.json'])
    cpSync(path.join(product, name), path.join(folder, name), { recursive: true })
  // but not what is cached beside the packages: that is of the product as it is
  const modules = path.join(product, 'node_modules')
  mkdirSync(path.join(folder, 'node_modules'))
  for (const name of readdirSync(modules).filter((each) => each !== '.cache'))
    symlinkSync(path.join(modules, name), path.join(folder, 'node_modules', name))
  const file = path.join(folder, FILE)
  const source = readFileSync(file, 'utf8')
  if (source.split(CALL).length !== 2) throw new Error(`${FILE} has this not once: ${CALL}`)
  writeFileSync(
    file,
    source.replace(CALL, `await new Promise((resolve) => setTimeout(resolve, 5000))\n    ${CALL}`),
  )
  return folder
}
