import { availableParallelism, cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import LightRunner, { type OnFailure, type OnResult, type OnStart, type Test } from 'jest-light-runner'

/** As many files run at a time, whatever they do. */
const ALWAYS = availableParallelism() + 1
/** What the processors must have to spare for another one, of all that they can do. */
const SPARE = 0.35
/** For so long, and since the last file was begun, which takes the most. */
const WATCHED_MS = 3000
const STEP_MS = 250

/**
 * Runs more files at a time, up to `maxWorkers`, while processors have nothing to do: many tests mostly wait, for Temporal
 * to miss a worker that was killed for example.
 */
export default class Runner extends LightRunner {
  override async runTests(
    tests: Test[],
    watcher: unknown,
    onStart: OnStart,
    onResult: OnResult,
    onFailure: OnFailure,
  ): Promise<void> {
    const running = new Set<Test>()
    let latest = Promise.resolve()
    const begin: OnStart = async (test) => {
      latest = latest.then(() => room(running)).then(() => void running.add(test))
      await latest
      return onStart(test)
    }
    const end: OnResult = async (test, result) => {
      running.delete(test)
      return onResult(test, result)
    }
    const fail: OnFailure = async (test, error) => {
      running.delete(test)
      return onFailure(test, error)
    }
    await super.runTests(tests, watcher, begin, end, fail)
  }
}

/** Resolves once there is room for another file. */
async function room(running: ReadonlySet<Test>): Promise<void> {
  for (;;) {
    const before = times()
    for (let waited = 0; waited < WATCHED_MS; waited += STEP_MS) {
      if (running.size < ALWAYS) return
      await delay(STEP_MS)
    }
    const now = times()
    if (now.idle - before.idle > SPARE * (now.all - before.all)) return
  }
}

/** What all processors have done since the machine started, in milliseconds. */
function times(): { idle: number; all: number } {
  const each = cpus().map((cpu) => cpu.times)
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
  return {
    idle: sum(each.map(({ idle }) => idle)),
    all: sum(each.map((cpu) => sum(Object.values(cpu)))),
  }
}
