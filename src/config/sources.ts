import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

export const root = path.join(import.meta.dirname, '../..')
/** npm's own record of what is installed, which may differ from machine to machine. */
const installed = path.join(root, 'node_modules/.package-lock.json')

let ofSources: string | undefined

/** Of package.json and of every source of the programs, in hexadecimal digits. They are read once in a process. */
export function hashOfSources(): string {
  ofSources ??= readSources()
  return ofSources
}

/** Of the sources and of what is installed; `undefined` where that is not known. */
export function hashOfProduct(): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(installed)).update(hashOfSources()).digest('hex')
  } catch {
    return undefined
  }
}

function readSources(): string {
  const hash = createHash('sha256').update(readFileSync(path.join(root, 'package.json')))
  for (const folder of ['src', 'workflows', 'activities']) {
    const files = readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).toSorted()
    // the clients are programs of their own
    for (const file of files.filter((name) => /\.c?[jt]s$/.test(name) && !/^clients\b/.test(name)))
      hash.update(file).update(readFileSync(path.join(root, folder, file)))
  }
  return hash.digest('hex')
}
