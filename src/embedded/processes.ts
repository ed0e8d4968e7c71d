import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** A process that can be recognised later: its pid alone may by then belong to another. */
export interface ProcessIdentity {
  pid: number
  /** When it began, as an opaque text that no other process of this pid can have. */
  started: string
}

/** The identity of a running process; undefined when there is none of that pid. */
export function identify(pid: number): ProcessIdentity | undefined {
  const started = process.platform === 'linux' ? startedByProc(pid) : startedByPs(pid)
  return started === undefined ? undefined : { pid, started }
}

/** True while the very process that was identified is running. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started
}

/** Stops a process that is not our child: `signal`, then SIGKILL when it takes longer than `graceMs`. */
export async function stopStranger(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  graceMs = 10_000,
): Promise<void> {
  if (isRunning(identity)) process.kill(identity.pid, signal)
  await ended(identity, graceMs)
  if (isRunning(identity)) process.kill(identity.pid, 'SIGKILL')
  await ended(identity)
}

/** Waits for the end of a process that is not our child, or for `timeoutMs`: only a child's end is an event. */
export async function ended(identity: ProcessIdentity, timeoutMs = Number.POSITIVE_INFINITY): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (isRunning(identity) && Date.now() < deadline) await delay(20)
}

/** The command and arguments of a running process, as one text; empty when there is none. */
export function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux')
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return ps('command', pid)
  } catch {
    return ''
  }
}

/** The process that started this one; known on Linux only. */
export function parentOf(pid: number): number | undefined {
  const parent = statFields(pid)?.[1]
  return parent === undefined ? undefined : Number(parent)
}

function startedByProc(pid: number): string | undefined {
  const fields = statFields(pid)
  // In a container without an init a dead orphan stays as a zombie for ever.
  if (fields === undefined || fields[0] === 'Z') return undefined
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return `${boot}:${fields[19]}`
}

/** From the state on: state, parent, …, start time in ticks since boot (the 20th). */
function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before it, in parentheses, may hold spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function startedByPs(pid: number): string | undefined {
  try {
    return ps('lstart', pid) || undefined
  } catch {
    return undefined
  }
}

function ps(column: string, pid: number): string {
  return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' }).trim()
}
