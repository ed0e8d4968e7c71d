import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { Refusal, USAGE } from './refusal.ts'
import type { SandboxKey } from './sandbox-key.ts'

const NAME = 'partner-referrals'

/** Where this platform keeps what a program remembers. */
export function stateFolder(
  given: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  platform: string = process.platform,
): string {
  if (given !== undefined) return path.resolve(given)
  const { XDG_STATE_HOME: state = '', LOCALAPPDATA: local = '' } = environment
  if (path.isAbsolute(state)) return path.join(state, NAME)
  if (platform === 'win32') return path.join(local || path.join(homedir(), 'AppData', 'Local'), NAME)
  if (platform === 'darwin') return path.join(homedir(), 'Library', 'Application Support', NAME)
  return path.join(homedir(), '.local', 'state', NAME)
}

/** Makes the folder, for its owner only. One that was there stays as it is: others may need it, and files are private. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw notWritable(folder, error)
  }
}

/** The name of what is stored for a sandbox and a key. It does not give the key away. */
export function nameFor({ baseUrl, apiKey }: SandboxKey): string {
  const fingerprint = createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex').slice(0, 16)
  return `listen-${fingerprint}`
}

/** @returns `undefined` if there is no such file. */
export function readState(file: string): Record<string, unknown> | undefined {
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Refusal(
      `${file} cannot be read (${codeOf(error)}): make it readable, or give another folder with --state.`,
      USAGE,
    )
  }
  try {
    const state: unknown = JSON.parse(text)
    if (typeof state === 'object' && state !== null) return state as Record<string, unknown>
  } catch {
    // as if it held something else
  }
  throw damaged(file)
}

export const damaged = (file: string) =>
  new Refusal(`${file} is damaged: delete it. A new signing secret is made then.`, USAGE)

/** Replaces the file in one step, for its owner only: after a crash it is there as it was before, or as it is now. */
export function writeState(file: string, state: object): void {
  const next = `${file}.${process.pid}.new`
  try {
    const descriptor = openSync(next, 'w', 0o600)
    try {
      writeSync(descriptor, `${JSON.stringify(state, null, 2)}\n`)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(next, file)
    syncFolder(path.dirname(file))
  } catch (error) {
    throw notWritable(path.dirname(file), error)
  }
}

/** Windows has no such thing. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

export function notWritable(folder: string, error: unknown): Refusal {
  return new Refusal(
    `${folder} cannot be written (${codeOf(error)}): give a folder of yours with --state, or set XDG_STATE_HOME.`,
    USAGE,
    { cause: error },
  )
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? String(error)
