import { createInterface } from 'node:readline'

// Ends the servers that its parent has started once the parent is gone, however that ended: stdin is a pipe from the parent,
// and closes then. A line is `PID SIGNAL` for a server that has started, and how to end it, or `PID` for one that has ended.
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
