import type { Launched } from './launch.ts'
import type { Run } from './run-file.ts'

/** What stops first: senders of work before those that do it, and the database last. */
const stopOrder = ['API', 'worker', 'Temporal', 'PostgreSQL']

/** Keeps all processes of a run, and ends them together. */
export interface Supervisor {
  /** Takes a process over as soon as it is there. */
  adopt: (launched: Launched) => void
  /** Stops everything in order; returns when nothing is left. */
  stopAll: () => Promise<void>
  /** Ends everything at once, without waiting. */
  killAll: () => void
}

/**
 * @param run where the processes go on record.
 * @param onUnexpectedEnd told in one line when a process has ended that nobody has stopped.
 */
export function createSupervisor(run: Run, onUnexpectedEnd: (line: string) => void): Supervisor {
  const processes: Launched[] = []
  let stopping = false
  const killAll = () => {
    // SIGQUIT is PostgreSQL's own immediate shutdown: its processes end with it.
    for (const { name, process: child } of processes)
      child.kill(name === 'PostgreSQL' ? 'SIGQUIT' : 'SIGKILL')
  }
  return {
    adopt: (launched) => {
      const { name, pid, stopSignal, logFile } = launched
      processes.push(launched)
      run.add(name, pid, stopSignal, stopOrder.indexOf(name))
      if (stopping) launched.process.kill('SIGKILL')
      void launched.ended.then((line) => {
        if (!stopping) onUnexpectedEnd(`${name} has ended: ${line || 'it said nothing'} (${logFile})`)
      })
    },
    stopAll: async () => {
      stopping = true
      run.stopping()
      const inOrder = processes.toSorted((a, b) => stopOrder.indexOf(a.name) - stopOrder.indexOf(b.name))
      for (const { stop } of inOrder) await stop()
      run.end()
    },
    killAll,
  }
}
