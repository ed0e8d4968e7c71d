import { open, readFile } from 'node:fs/promises'
import path from 'node:path'

export interface ErasureSettings {
  ERASURE_LOG?: string | undefined
}

/** A lead that was erased, by ids only, because the line outlives what was erased. */
export interface ErasedLead {
  deployment: string
  lead_id: number
  /** Of the lead's `lead_received`: after a restore, a lead of the same id may be another one. */
  event_id: string
}

/**
 * Adds lines to the erasure log, a file of JSON lines outside the database: a restored backup is erased again by it. They are
 * on the disk once this resolves.
 *
 * @throws what the file system says.
 */
export async function logErased(file: string, leads: readonly ErasedLead[]): Promise<void> {
  const lines = leads.map((lead) => JSON.stringify(lead))
  const handle = await open(file, 'a', 0o600)
  try {
    // a crash may have left half a line, which ours must not continue
    await handle.appendFile(`\n${lines.join('\n')}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  // a new file is lost with its folder's entry
  const folder = await open(path.dirname(file))
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/**
 * The lines of an erasure log, without what a crash left of one: its transaction did not commit.
 *
 * @throws {Error} if a line is damaged.
 */
export async function readErased(file: string): Promise<ErasedLead[]> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  return lines.flatMap((line, index) => (line.endsWith('}') ? parse(line, `line ${index + 1}`) : []))
}

function parse(line: string, where: string): ErasedLead {
  try {
    const { deployment, lead_id, event_id } = JSON.parse(line) as Partial<ErasedLead>
    if (typeof deployment === 'string' && Number.isInteger(lead_id) && typeof event_id === 'string')
      return { deployment, lead_id: Number(lead_id), event_id }
  } catch {
    // it is said below
  }
  throw new Error(`the erasure log is damaged in ${where}: correct it, or take another copy`)
}
