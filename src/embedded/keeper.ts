import { createInterface } from 'node:readline'

// Ends the servers that a process has started when that process is gone, however it ended: its stdin is a pipe from it,
// and closes then. Each line is `PID SIGNAL`, how a server is to end, or `PID`, one that has ended.
const kept = new Map<number, NodeJS.Signals>()
for await (const line of createInterface({ input: process.stdin })) {
  const [pid, signal] = line.split(' ') as [string, NodeJS.Signals?]
  if (signal === undefined) kept.delete(Number(pid))
  else kept.set(Number(pid), signal)
}
for (const [pid, signal] of kept) {
  try {
    process.kill(pid, signal)
  } catch {} // it has ended by itself
}
