import { open, readFile } from 'node:fs/promises'
import path from 'node:path'

/** One line of the log: an erased lead by its ids only, because the line outlives the data. */
export interface ErasedLead {
  deployment: string
  lead_id: number
  /** The id of the lead's first event: after a restore, another lead may have the same `lead_id`. */
  event_id: string
}

/**
 * Appends lines to the erasure log, a file of JSON lines outside the database. After a restore, the leads that it names are
 * erased again. The lines are on the disk once this resolves.
 *
 * @throws the file system's error.
 */
export async function logErased(file: string, leads: readonly ErasedLead[]): Promise<void> {
  const lines = leads.map((lead) => JSON.stringify(lead))
  const handle = await open(file, 'a', 0o600)
  try {
    // a crash may have left half a line: ours must not continue it
    await handle.appendFile(`\n${lines.join('\n')}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  // makes the entry of a new file durable
  const folder = await open(path.dirname(file))
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/**
 * Reads an erasure log. It skips half a line that a crash left: that transaction did not commit.
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
    // reported below
  }
  throw new Error(`the erasure log is damaged in ${where}: correct it, or take another copy`)
}
