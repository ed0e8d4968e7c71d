import { commandLine, identify, isRunning, parentOf } from './processes.ts'

/**
 * Calls `act` once when the npm that runs us is gone. A signal sent to npm ends npm and perhaps its shell,
 * which do not pass it on, and nothing tells a process that its parent has ended.
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
