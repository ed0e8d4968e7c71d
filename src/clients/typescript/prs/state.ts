import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** Ends the program with one line that says what to do. */
export class Refusal extends Error {
  readonly exitCode: number

  /** @param exitCode 1 if the service refused, 2 if an argument or a file is unusable. */
  constructor(message: string, exitCode: 1 | 2 = 2) {
    super(message)
    this.exitCode = exitCode
  }
}

/** At most one write in this time, which flushes the disk: a crash repeats what was accepted since. */
const PACE_MS = 100

/**
 * What is remembered of a sandbox and a key: the secret that webhooks are signed with here, and how far they are. One
 * process at a time has it.
 */
export function openState({ apiKey, baseUrl, state }: { apiKey: string; baseUrl: string; state: string }) {
  const folder = path.resolve(state)
  // it does not give the key away
  const name = createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex').slice(0, 16)
  const file = path.join(folder, `listen-${name}.json`)
  const unlock = orRefuse(folder, () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return lock(`${file}.lock`)
  })
  const stored = read(file)
  const secret = stored?.secret ?? `whsec_${randomBytes(32).toString('base64')}`
  let timer: NodeJS.Timeout | undefined
  let written: string | null | undefined

  const store = (cursor: string | null): void => {
    if (cursor === written) return
    const text = JSON.stringify({ base_url: baseUrl, secret, cursor }, null, 2)
    // in one step: after a crash the file is there as it was before, or as it is now
    orRefuse(folder, () => {
      writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true })
      renameSync(`${file}.new`, file)
    })
    written = cursor
  }
  return {
    secret,
    /** Where to go on; null is the beginning. */
    cursor: stored === undefined ? 'now' : stored.cursor,
    store,
    storeSoon(cursor: () => string | null): void {
      timer ??= setTimeout(() => {
        timer = undefined
        store(cursor())
      }, PACE_MS)
    },
    close(): void {
      clearTimeout(timer)
      unlock()
    },
  }
}

/** Holds a file with this process's number, and takes over one whose process has ended. */
function lock(file: string): () => void {
  const other = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  const remedy = 'end it, or give this one a folder of its own with --state'
  if (isAlive(other))
    throw new Refusal(`Another prs listen (process ${other}) forwards the webhooks of this key: ${remedy}.`)
  rmSync(file, { force: true })
  writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 })
  return () => rmSync(file, { force: true })
}

function read(file: string): { secret: string; cursor: string | null } | undefined {
  if (!existsSync(file)) return undefined
  const text = readFileSync(file, 'utf8')
  // a secret that lost a character is none
  const [, secret, cursor] =
    /"secret": "(whsec_[A-Za-z0-9+/]{43}=)",\n {2}"cursor": (null|"[\d-]{1,60}")/.exec(text) ?? []
  if (secret === undefined || cursor === undefined)
    throw new Refusal(`${file} is damaged: delete it. A new signing secret is made then.`)
  return { secret, cursor: JSON.parse(cursor) as string | null }
}

/** Another process; in a container, one before this had the same number. */
function isAlive(pid: number): boolean {
  try {
    return pid > 0 && pid !== process.pid && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function orRefuse<Result>(folder: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) throw error
    const code = (error as NodeJS.ErrnoException).code ?? String(error)
    throw new Refusal(`${folder} cannot be written (${code}): give a folder of yours with --state.`)
  }
}
