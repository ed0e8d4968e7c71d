import { setTimeout as delay } from 'node:timers/promises'
import { Gauge, type Registry } from 'prom-client'

const CACHE_MS = 5000
/** Prometheus waits ten seconds for all metrics, and PostgreSQL may be away. */
const READ_LIMIT_MS = 2000

/** Registers a gauge that has no value while none can be read. */
export function registerGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => Promise<number | undefined>,
): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read()
      if (value === undefined) gauge.remove()
      else gauge.set(value)
    },
  })
}

/** What `read` answers, for everyone who asks within five seconds; `undefined` when it fails or takes too long. */
export function cached<Counts>(read: () => Promise<Counts>): () => Promise<Counts | undefined> {
  let answer: Promise<Counts | undefined> | undefined
  let readAt = 0
  return () => {
    if (answer === undefined || performance.now() - readAt > CACHE_MS) {
      readAt = performance.now()
      const tooLate = delay(READ_LIMIT_MS, undefined, { ref: false })
      answer = Promise.race([read(), tooLate]).catch(() => undefined)
    }
    return answer
  }
}
