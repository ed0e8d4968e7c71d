import { setTimeout as delay } from 'node:timers/promises'
import { hasPrometheus, startPrometheus, type Target } from '../prometheus/prometheus.ts'
import { atEnd } from '../support/at-end.ts'
import { type Broken, brokenBy } from './check.ts'
import type { Stack } from './stack.ts'

/** How much faster time passes for the rules than in a deployment: these days last seconds. */
const FACTOR = 20
const LOOK_MS = 500
const CLEAR_LIMIT_MS = 120_000

/** What fires while servers and processes are away, and for as long as what waited then is not done. */
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

export interface ExpectedAlerts {
  /** What fires in any case. */
  always?: readonly string[]
  /** What may fire besides, beside what fires while something is away. */
  perhaps?: readonly string[]
}

export type AlertWatch = Awaited<ReturnType<typeof watchAlerts>>

/** A Prometheus that reads the processes that run now; where there is none, nothing is seen. */
export async function watchAlerts({ running }: Stack) {
  if (!hasPrometheus()) return undefined
  const prometheus = await startPrometheus(FACTOR)
  const fired = new Set<string>()
  let firing: string[] = []
  let known = ''
  const over = new AbortController()
  const look = async () => {
    const { api, worker } = running
    const targets: Target[] = [
      { job: 'referrals-api', instance: 'api', port: api.metricsPort ?? 0 },
      { job: 'referrals-worker', instance: 'worker', port: worker.metricsPort ?? 0 },
    ]
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
  const watching = watch()
  atEnd(async () => {
    over.abort()
    await watching
  })
  return {
    /** Forgets what fired before: a bad day begins. */
    begin: () => fired.clear(),

    /** Waits until nothing fires; answers what did, and what of it is wrong. */
    async end({ always = [], perhaps = [] }: ExpectedAlerts = {}): Promise<{
      fired: string[]
      broken: Broken[]
    }> {
      const limit = Date.now() + CLEAR_LIMIT_MS
      do await delay(LOOK_MS)
      while (firing.length > 0 && Date.now() < limit)
      const expected = [...always, ...perhaps, ...whileAway]
      return {
        fired: [...fired],
        broken: [
          ...brokenBy(
            'the alerts that must fire do',
            always.filter((name) => !fired.has(name)),
          ),
          ...brokenBy(
            'no alert fires without a reason',
            [...fired].filter((name) => !expected.includes(name)),
          ),
          ...brokenBy('alerts end once nothing waits', firing),
        ],
      }
    },
  }
}
