import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, type FileHandle, mkdir, open, readdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import { type Certificate, type JournalLine, journalSteps } from '../decisions/erasure.ts'

/** Where a line is, and what it says. */
export type Journaled = NonNullable<Certificate['journal']>

export interface ErasureSettings {
  ERASURE_JOURNAL?: string | undefined
  BACKUP_RETENTION_DAYS?: number | undefined
}

/** What erasing needs beside the database, as the settings name it. */
export function erasureTools({
  ERASURE_JOURNAL: folder,
  BACKUP_RETENTION_DAYS: backupDays,
}: ErasureSettings) {
  return { journal: folder === undefined ? undefined : openJournal(folder), backupDays }
}

export type Journal = ReturnType<typeof openJournal>

/** The journal is absent in a sandbox that has none; days if nobody has said for how long backups are kept. */
export type ErasureTools = ReturnType<typeof erasureTools>

const EXTENSION = '.jsonl'
const NEWLINE = 10

/**
 * The erasure journal: what was erased, outside the database, so that a restored backup is erased again. A folder with one
 * file for each machine that writes, `<hostname>.jsonl`, of lines that are only ever added.
 */
export function openJournal(folder: string, host = hostname()) {
  const name = `${host.replaceAll(/[^\w.-]/g, '_')}${EXTENSION}`

  return {
    folder,

    /** Makes the folder, if it is missing. @throws {Error} if it cannot be written to. */
    async prepare(): Promise<void> {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await access(folder, constants.R_OK | constants.W_OK)
    },

    /** Adds lines. They are on the disk once this resolves. */
    async append(lines: readonly JournalLine[]): Promise<Journaled[]> {
      if (lines.length === 0) return []
      const texts = lines.map((line) => JSON.stringify(line))
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = await open(path.join(folder, name), 'a+', 0o600)
      try {
        // a crash may have left half a line: ours must not continue it
        const before = (await endsInHalfALine(file)) ? '\n' : ''
        await file.appendFile(`${before}${texts.join('\n')}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await syncFolder(folder)
      return lines.map(({ intent }, index) => ({ file: name, sha256: hashOf(texts[index] ?? ''), intent }))
    },

    /**
     * All lines of all machines, and where each is.
     *
     * @throws {Error} if a line is damaged; half a line counts as none: its writer was killed before the commit.
     */
    async *read(): AsyncGenerator<JournalLine & Journaled> {
      for (const each of await filesIn(folder)) {
        const file = await open(path.join(folder, each))
        let number = 0
        for await (const text of file.readLines()) {
          number += 1
          if (!text.endsWith('}')) continue
          const line = parse(text, `${path.join(folder, each)}, line ${number}`)
          yield { ...line, file: each, sha256: hashOf(text) }
        }
      }
    },
  }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

async function endsInHalfALine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat()
  if (size === 0) return false
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0] !== NEWLINE
}

/** A new file is lost with its folder's entry, however well it was written itself. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(EXTENSION)).toSorted()
  } catch (error) {
    // nothing was erased yet
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function parse(text: string, where: string): JournalLine {
  try {
    const line = JSON.parse(text) as Partial<JournalLine>
    const { step, intent, deployment, lead_id: leadId, event_id: eventId, at = '' } = line
    const isWhole =
      typeof intent === 'string' &&
      typeof deployment === 'string' &&
      typeof leadId === 'number' &&
      Number.isInteger(leadId) &&
      typeof eventId === 'string'
    if (isWhole && step !== undefined && journalSteps.includes(step))
      return { step, intent, deployment, lead_id: leadId, event_id: eventId, at }
  } catch {
    // it is said below
  }
  throw new Error(
    `The erasure journal is damaged: ${where}. Correct the line, or put the file back from a copy.`,
  )
}
