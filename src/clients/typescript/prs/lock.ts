import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pause } from '../src/transport.ts'
import { Refusal, USAGE } from './refusal.ts'
import { notWritable } from './state-folder.ts'

const TRIES = 4
const WAIT_MS = 50

/**
 * Takes what only one process may use at a time. Each puts a file of its own there, and then looks for those of others: of
 * two at the same moment, at least one sees the other. What a killed process left behind is removed.
 *
 * @returns what gives it back.
 */
export async function lock(file: string): Promise<() => void> {
  const folder = path.dirname(file)
  const own = `${path.basename(file)}.${process.pid}.${startOf(process.pid) ?? ''}.${randomUUID()}.lock`
  const giveBack = () => rmSync(path.join(folder, own), { force: true })
  for (let tries = 1; ; tries += 1) {
    try {
      writeFileSync(path.join(folder, own), '', { mode: 0o600 })
    } catch (error) {
      throw notWritable(folder, error)
    }
    const other = otherIn(folder, path.basename(file), own)
    if (other === undefined) return giveBack
    giveBack()
    if (tries === TRIES)
      throw new Refusal(
        `Another prs listen (process ${other}) forwards the webhooks of this key: end it, or give this one a folder of its own with --state.`,
        USAGE,
      )
    // two that saw each other come back at different times
    await pause(WAIT_MS * (1 + Math.random() * tries), undefined)
  }
}

/** The process of another lock. */
function otherIn(folder: string, name: string, own: string): number | undefined {
  for (const each of readdirSync(folder)) {
    if (!each.startsWith(`${name}.`) || !each.endsWith('.lock') || each === own) continue
    const [pid = '', started = ''] = each.slice(name.length + 1).split('.')
    if (isAlive(Number(pid), started)) return Number(pid)
    rmSync(path.join(folder, each), { force: true })
  }
  return undefined
}

function isAlive(pid: number, started: string): boolean {
  // before this one, as in a container
  if (pid === process.pid || !(pid > 0)) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return started === '' || startOf(pid) === started
}

/** Tells a process from a later one with the same number; only Linux says it. A process that has ended has none. */
function startOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // the name before it may have spaces and brackets
    const [state, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? undefined : rest[18]
  } catch {
    return undefined
  }
}
