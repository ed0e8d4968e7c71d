import { PerformanceObserver } from 'node:perf_hooks'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { GARBAGE } from './floors/names.ts'

/**
 * Loaded ahead of each worker that the benchmark starts: adds up for how long garbage collection has worked in its threads,
 * and answers `GARBAGE` with the milliseconds so far.
 */
if (isMainThread) setEnvironmentData(GARBAGE, new SharedArrayBuffer(8))
const microseconds = new BigInt64Array(getEnvironmentData(GARBAGE) as unknown as SharedArrayBuffer)

new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries())
    Atomics.add(microseconds, 0, BigInt(Math.round(duration * 1000)))
}).observe({ entryTypes: ['gc'] })

if (isMainThread) {
  process.on('message', (message) => {
    if (message === GARBAGE) process.send?.({ garbageMs: Number(Atomics.load(microseconds, 0)) / 1000 })
  })
  // the worker ends when it is done, whoever might still ask
  process.channel?.unref()
}
