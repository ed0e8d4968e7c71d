import { setTimeout as delay } from 'node:timers/promises'
import { badBuild } from '../support/bad-build.ts'
import { startProcess } from '../support/processes.ts'
import { scrape } from '../support/scrape.ts'
import { until } from '../support/until.ts'
import { type Broken, brokenBy } from './check.ts'
import type { Disaster, Ground } from './rehearse.ts'

/** How long the bad version works. */
const BAD_MS = 20_000
/** The alert fires on what has failed for a minute. */
const ALERT_PATIENCE_MS = 150_000
const PAUSE_MS = 2000
const REPAIR_PATIENCE_MS = 120_000

/** A version whose workflows do not fit the histories is rolled out under traffic, and rolled back. */
export function deploymentDisasters({ stack }: Ground): Disaster[] {
  const { service, running, staff } = stack
  const metrics = { METRICS_PORT: '0' }
  const repair = async (...args: string[]) => staff('workflow', 'repair', ...args)
  let firstBuild = ''
  let alertedAfter = ''

  async function rollOut(): Promise<void> {
    const folder = badBuild()
    await running.worker.stop()
    running.worker = await startProcess('src/worker.ts', service.environment, folder)
    await delay(BAD_MS)
  }

  async function rollBack(): Promise<void> {
    await running.worker.stop()
    running.worker = await service.startWorker(metrics)
  }

  /** What fails by itself is counted; the command says which build is to blame. */
  async function untilAlerted(): Promise<void> {
    const from = Date.now()
    for (;;) {
      const failing = (await scrape(running.worker)).value('referrals_workflows_failing') ?? 0
      if (failing > 0) {
        alertedAfter = `${failing} workflows fail, ${((Date.now() - from) / 1000).toFixed(0)} s after the rollback`
        return
      }
      if (Date.now() - from > ALERT_PATIENCE_MS) throw new Error('the alert does not fire')
      await delay(PAUSE_MS)
    }
  }

  async function repairAll(): Promise<string> {
    await untilAlerted()
    const { builds } = (await repair()) as { builds: { build: string; workflows: number }[] }
    firstBuild = builds[0]?.build ?? ''
    const resets: unknown[] = []
    for (const { build } of builds) resets.push((await repair('--yes', '--build', build)).reset)
    const end = Date.now() + REPAIR_PATIENCE_MS
    for (;;) {
      const { to_reset: left } = await repair()
      if (left === 0) return `${alertedAfter}; reset: ${resets.join(', ')}`
      if (Date.now() > end) throw new Error(`${String(left)} workflows still fail`)
      resets.push((await repair('--yes')).reset)
      await delay(PAUSE_MS)
    }
  }

  return [
    {
      mayLose: { leads: false, milestones: false },
      name: 'a bad version rolled out, and rolled back',
      leadUp: () => delay(4000),
      strike: rollOut,
      recover: rollBack,
      runbook: repairAll,
      verify: async (): Promise<Broken[]> => {
        const failing = async () => (await repair()).to_reset === 0
        const isRepaired = await until(failing).catch(() => false)
        return [
          ...brokenBy('the repair names the bad build', firstBuild === '' ? ['none'] : []),
          ...brokenBy('no workflow’s task fails once they are repaired', isRepaired ? [] : ['some do']),
        ]
      },
    },
  ]
}
