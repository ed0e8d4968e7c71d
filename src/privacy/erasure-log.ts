import { appendFile, readFile } from 'node:fs/promises'
import { z } from 'zod'

/**
 * One line of the log: an erased lead by its ids only, because the line outlives the data. `event_id` is that of its first
 * event: after a restore, another lead may have the same `lead_id`.
 */
const erasedLead = z.object({ deployment: z.string(), lead_id: z.int(), event_id: z.string() })

export type ErasedLead = z.output<typeof erasedLead>

/**
 * Appends lines to the erasure log, a file of JSON lines outside the database. After a restore, the leads that it names are
 * erased again. The lines are on the disk once this resolves.
 *
 * @throws the file system's error.
 */
export async function logErased(file: string, leads: readonly ErasedLead[]): Promise<void> {
  const lines = leads.map((lead) => JSON.stringify(lead))
  // a crash may have left half a line: ours must not continue it
  await appendFile(file, `\n${lines.join('\n')}\n`, { mode: 0o600, flush: true })
}

/**
 * Reads an erasure log. It skips half a line that a crash left: that transaction did not commit.
 *
 * @throws {Error} if a line is damaged.
 */
export async function readErased(file: string): Promise<ErasedLead[]> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  return lines.flatMap((line, index) => {
    if (!line.endsWith('}')) return []
    try {
      return erasedLead.parse(JSON.parse(line))
    } catch {
      throw new Error(`the erasure log is damaged in line ${index + 1}: correct it, or take another copy`)
    }
  })
}
