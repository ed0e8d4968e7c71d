import { readFileSync } from 'node:fs'

// Preloaded into a process of the service by Node's --import: its wall clock is ahead by the milliseconds that the file
// CHAOS_CLOCK holds. Monotonic clocks and timers go on as they are.

const LOOK_MS = 50
const { now } = Date
let aheadMs = 0

function look(): void {
  try {
    aheadMs = Number(readFileSync(process.env.CHAOS_CLOCK ?? ''))
  } catch {
    // nobody has moved it yet
  }
}

look()
setInterval(look, LOOK_MS).unref()
Date.now = () => now() + aheadMs
globalThis.Date = new Proxy(Date, {
  construct: (target, given, self) =>
    Reflect.construct(target, given.length === 0 ? [Date.now()] : given, self),
  apply: () => new Date().toString(),
})
