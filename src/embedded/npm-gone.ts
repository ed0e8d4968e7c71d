import { commandLine, identify, isRunning, parentOf } from './processes.ts'

/**
 * Calls `act` once when the npm that runs us has ended. A signal to npm may end only npm and its shell, and a process
 * is not told when its parent ends.
 */
export function onNpmGone(act: () => void): void {
  const shell = process.ppid
  const pid = [shell, parentOf(shell)].find(
    (candidate) => candidate && commandLine(candidate).includes('npm'),
  )
  const npm = pid === undefined ? undefined : identify(pid)
  const watch = setInterval(() => {
    if (process.ppid === shell && (npm === undefined || isRunning(npm))) return
    clearInterval(watch)
    act()
  }, 100)
}
