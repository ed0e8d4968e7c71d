import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { requireSecret } from '../src/signatures.ts'
import { lock } from './lock.ts'
import type { SandboxKey } from './sandbox-key.ts'
import { damaged, makeFolder, nameFor, readState, writeState } from './state-folder.ts'

/** At most one write in this time, which are two flushes of the disk: a crash repeats what was accepted since. */
const PACE_MS = 100

/** What is remembered of a sandbox and a key: the secret that webhooks are signed with here, and how far they are. */
export async function openProgress(folder: string, key: SandboxKey) {
  makeFolder(folder)
  const file = path.join(folder, `${nameFor(key)}.json`)
  const unlock = await lock(file)
  let stored
  try {
    stored = checked(file, readState(file))
  } catch (error) {
    unlock()
    throw error
  }
  const secret = stored?.secret ?? newSecret()
  let written: string | null | undefined
  let timer: NodeJS.Timeout | undefined

  const write = (cursor: string | null) => {
    if (cursor === written) return
    writeState(file, { base_url: key.baseUrl, secret, cursor })
    written = cursor
  }
  return {
    file,
    secret,
    /** Where to go on; `undefined` at the first start. */
    cursor: stored?.cursor,
    write,
    /** Writes it soon; `onError` if that fails. */
    writeSoon(cursor: () => string | null, onError: (error: unknown) => void): void {
      timer ??= setTimeout(() => {
        timer = undefined
        try {
          write(cursor())
        } catch (error) {
          onError(error)
        }
      }, PACE_MS)
    },
    /** Lets another process go on. */
    close(): void {
      clearTimeout(timer)
      unlock()
    },
  }
}

export type Progress = Awaited<ReturnType<typeof openProgress>>

/** The format of Standard Webhooks. */
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

/** Whether it is a secret of at least 24 bytes in base64: one that lost a character is none. */
function isSecret(text: unknown): text is string {
  if (typeof text !== 'string' || !/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(text)) return false
  try {
    requireSecret(text)
    return true
  } catch {
    return false
  }
}

function checked(file: string, state: Record<string, unknown> | undefined) {
  if (state === undefined) return undefined
  const { secret, cursor } = state
  if (!isSecret(secret) || (cursor !== null && typeof cursor !== 'string')) throw damaged(file)
  return { secret, cursor }
}
