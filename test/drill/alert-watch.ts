import { setTimeout as delay } from 'node:timers/promises'
import { hasPrometheus, startPrometheus, type Target } from '../prometheus/prometheus.ts'
import { atEnd } from '../support/at-end.ts'
import { type Broken, brokenBy } from './check.ts'
import type { Stack } from './stack.ts'

/** How much faster time passes for the rules than in a deployment: these days last seconds. */
const FACTOR = 20
const LOOK_MS = 500
const CLEAR_LIMIT_MS = 120_000

/** What may fire while servers and processes are away, and for as long as what waited then is not done: a day may be too short. */
const whileAway = [
  'NoWorkerRuns',
  'NoApiRuns',
  'WorkerGetsNoWork',
  'LoopHasStopped',
  'ApiCannotUsePostgres',
  'WorkerCannotUsePostgres',
  'TemporalIsAway',
  'BacklogIsUnknown',
  'ApiFails',
  'ActivitiesFail',
  'LeadsGetNoWorkflow',
  'WebhooksAreLate',
  'EndpointTakesNoWebhooks',
]

export type AlertWatch = Awaited<ReturnType<typeof watchAlerts>>

/** A Prometheus that reads the processes that run now; where there is none, nothing is seen. */
export async function watchAlerts({ running }: Stack) {
  if (!hasPrometheus()) return undefined
  const prometheus = await startPrometheus(FACTOR)
  const fired = new Set<string>()
  let firing: string[] = []
  let known = ''
  const over = new AbortController()
  const targetsNow = (): Target[] => [
    { job: 'referrals-api', instance: 'api', port: running.api.metricsPort ?? 0 },
    { job: 'referrals-worker', instance: 'worker', port: running.worker.metricsPort ?? 0 },
  ]
  const look = async () => {
    const targets = targetsNow()
    if (known !== JSON.stringify(targets)) prometheus.observe(targets)
    known = JSON.stringify(targets)
    firing = await prometheus.firing()
    for (const alert of firing) fired.add(alert)
  }
  const watch = async () => {
    while (!over.signal.aborted) {
      await look().catch(() => {})
      await delay(LOOK_MS, undefined, { signal: over.signal }).catch(() => {})
    }
  }
  await look()
  await prometheus.untilRead(targetsNow())
  const watching = watch()
  atEnd(async () => {
    over.abort()
    await watching
  })
  return {
    /** Forgets what fired before: a bad day begins. */
    begin: () => fired.clear(),

    /**
     * Waits until nothing fires.
     *
     * @param besides what may have fired beside what fires while something is away.
     * @returns what did, and what of it is wrong.
     */
    async end(besides: readonly string[] = []): Promise<{ fired: string[]; broken: Broken[] }> {
      const limit = Date.now() + CLEAR_LIMIT_MS
      do await delay(LOOK_MS)
      while (firing.length > 0 && Date.now() < limit)
      const isExpected = (name: string) => besides.includes(name) || whileAway.includes(name)
      return {
        fired: [...fired],
        broken: [
          ...brokenBy(
            'no alert fires without a reason',
            [...fired].filter((name) => !isExpected(name)),
          ),
          ...brokenBy('alerts end once nothing waits', firing),
        ],
      }
    },
  }
}
