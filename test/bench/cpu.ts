import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/**
 * Seconds of processor time that processes and their children have used; NaN where there is no /proc. What a
 * request costs in these hardly depends on how busy the machine is otherwise.
 */
export function cpuSeconds(pids: readonly number[]): number {
  try {
    const children = readdirSync('/proc').filter(
      (name) => /^\d+$/.test(name) && pids.includes(parentOf(name)),
    )
    return [...pids.map(String), ...children].reduce((sum, pid) => sum + ticksOf(pid), 0) / TICKS_PER_SECOND
  } catch {
    return Number.NaN
  }
}

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
