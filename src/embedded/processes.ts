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

/**
 * Stops a process that is not our child: `signal`, then SIGKILL when it takes longer than `graceMs`.
 * Only a child's end is told as an event, so this one looks every 20 ms.
 */
export async function stopStranger(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  graceMs = 10_000,
): Promise<void> {
  const deadline = Date.now() + graceMs
  let killed = false
  if (isRunning(identity)) process.kill(identity.pid, signal)
  while (isRunning(identity)) {
    if (!killed && Date.now() > deadline) killed = process.kill(identity.pid, 'SIGKILL')
    await delay(20)
  }
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

function startedByProc(pid: number): string | undefined {
  try {
    // The name in parentheses may hold spaces; state and start time (in ticks) are fields 3 and 22.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // In a container without an init a dead orphan stays as a zombie for ever.
    return fields[0] === 'Z' ? undefined : `${boot}:${fields[19]}`
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
