import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { temporaryFolder } from '../support/folder.ts'

const root = path.join(import.meta.dirname, '../..')

interface Sabotage {
  /** What the product does then. */
  about: string
  file: string
  find: string
  replace: string
}

/** Mistakes that are easily made, and that no run may miss. */
export const sabotages: Record<string, Sabotage> = {
  'early-ack': {
    about: 'create-lead answers before the lead is committed',
    file: 'src/core/leads/statements/create-lead.ts',
    find: 'const inserted = await insertLead(creation, reserved, partnerId, lead, toBody, { kept, also })',
    replace: `void insertLead(creation, reserved, partnerId, lead, toBody, { kept, also }).catch(() => undefined)
  const inserted = leadId > 0 ? { duplicateOf: null } : undefined`,
  },
  'double-record': {
    about: 'a milestone’s id no longer makes two messages the same fact',
    file: 'src/core/leads/decisions/milestone-keys.ts',
    find: 'return id === undefined ? unique(name) : `${name}:${id}`',
    replace: 'return unique(name)',
  },
  'out-of-order': {
    about: 'a recording sends its webhook at once, though an earlier one is open',
    file: 'workflows/standing.ts',
    find: 'return next > last ? { partnerId, after: last } : undefined',
    replace: 'return next > last + 1 ? undefined : { partnerId, after: last }',
  },
}

/**
 * A copy of the product's sources with one mistake in it.
 *
 * @returns its folder.
 * @throws {Error} when the source is no longer as the sabotage expects it.
 */
export function sabotagedProduct({ file, find, replace }: Sabotage): string {
  const folder = temporaryFolder()
  for (const name of ['src', 'workflows', 'activities', 'package.json', 'tsconfig.json'])
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  linkModules(folder)
  const source = readFileSync(path.join(folder, file), 'utf8')
  if (source.split(find).length !== 2) throw new Error(`${file} has this not once: ${find}`)
  writeFileSync(
    path.join(folder, file),
    source.replace(find, () => replace),
  )
  return folder
}

/** Each package is linked, but not what is cached beside them: that is of the product as it is. */
function linkModules(folder: string): void {
  const modules = path.join(root, 'node_modules')
  mkdirSync(path.join(folder, 'node_modules'))
  for (const name of readdirSync(modules).filter((each) => each !== '.cache'))
    symlinkSync(path.join(modules, name), path.join(folder, 'node_modules', name))
}

/** The product as it is. */
export const product = root
