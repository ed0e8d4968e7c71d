import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/**
 * Seconds of processor time that processes and their children have used; NaN where there is no /proc. What a
 * request costs in these hardly depends on how busy the machine is otherwise.
 */
export function cpuSeconds(pids: readonly number[]): number {
  try {
    return (
      [...pids.map(String), ...childrenOf(pids)].reduce((sum, pid) => sum + ticksOf(pid), 0) /
      TICKS_PER_SECOND
    )
  } catch {
    return Number.NaN
  }
}

/** The processes that these have started and that are still there. */
export function childrenOf(pids: readonly number[]): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && pids.includes(parentOf(name)))
}

/** Whether it was stopped, as by SIGSTOP. */
export const isStopped = (pid: number) => statOf(String(pid))[0] === 'T'

/** From the state on: state, parent, …; the 12th to 15th are its own time and that of the children it buried. */
function statOf(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

const parentOf = (pid: string) => Number(statOf(pid)[1])
const ticksOf = (pid: string) =>
  statOf(pid)
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks), 0)
