import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { processEnvironment } from '../config.ts'

const hasProc = process.platform === 'linux'

/** A process that can be recognized later: its pid alone may be reused by another process. */
export interface ProcessIdentity {
  pid: number
  /** When it started, as opaque text that no other process with this pid can have. */
  started: string
}

/** The identity of a running process; undefined if no process has this pid. */
export function identify(pid: number): ProcessIdentity | undefined {
  const started = hasProc ? startedByProc(pid) : ps('lstart', pid, DATES)
  return started ? { pid, started } : undefined
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started
}

/** Stops a server that is not our child: gracefully, and by SIGKILL if it takes longer than 10 s. */
export async function stopStranger(identity: ProcessIdentity): Promise<void> {
  if (isRunning(identity)) process.kill(identity.pid, 'SIGINT')
  await ended(identity, 10_000)
  if (isRunning(identity)) process.kill(identity.pid, 'SIGKILL')
  await ended(identity)
}

/** Waits, at most for `timeoutMs`, until a process that is not our child has ended: only a child's end is an event. */
export async function ended(identity: ProcessIdentity, timeoutMs = Number.POSITIVE_INFINITY): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (isRunning(identity) && Date.now() < deadline) await delay(20)
}

/** The command and arguments of a running process, as one text; empty if there is none. */
export function commandLine(pid: number): string {
  return hasProc ? (readProc(pid, 'cmdline') ?? '').replaceAll('\0', ' ') : ps('command', pid)
}

/** The parent of a process; known on Linux only. */
export function parentOf(pid: number): number | undefined {
  const parent = statFields(pid)?.[1]
  return parent === undefined ? undefined : Number(parent)
}

function startedByProc(pid: number): string | undefined {
  const fields = statFields(pid)
  // in a container without an init process, a dead orphan stays a zombie
  if (fields === undefined || fields[0] === 'Z') return undefined
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return `${boot}:${fields[19]}`
}

/** From the state on: state, parent, …, start time in ticks since boot (the 20th). */
function statFields(pid: number): string[] | undefined {
  const stat = readProc(pid, 'stat')
  // the name before it, in parentheses, may contain spaces
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}

/** It writes a date as language and time zone have it, and another terminal may have others. */
const DATES = { LC_ALL: 'C', TZ: 'UTC' }

function ps(column: string, pid: number, variables = {}): string {
  try {
    const env = processEnvironment(variables)
    return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8', env }).trim()
  } catch {
    return ''
  }
}
