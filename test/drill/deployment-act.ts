import { setTimeout as delay } from 'node:timers/promises'
import { badBuild } from '../support/bad-build.ts'
import { startProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { type Broken, brokenBy } from './check.ts'
import type { Disaster, Ground } from './rehearse.ts'

/** How long the bad version works. */
const BAD_MS = 10_000
const LIST_PATIENCE_MS = 90_000
const PAUSE_MS = 2000
const REPAIR_PATIENCE_MS = 150_000
/** A task that only its worker's queue knew is tried by others after ten seconds, and fails twice before it is listed. */
const QUIET_MS = 30_000

/** A version whose workflows do not fit the histories is rolled out under traffic, and rolled back. */
export function deploymentDisasters({ stack }: Ground): Disaster[] {
  const { service, running, staff } = stack
  const repair = async (...args: string[]) => staff('workflow', 'repair', ...args)
  let badBuildId: string | undefined

  async function rollOut(): Promise<void> {
    const folder = badBuild()
    await running.worker.stop()
    running.worker = await startProcess('src/worker.ts', service.environment, folder)
    await delay(BAD_MS)
  }

  async function rollBack(): Promise<void> {
    await running.worker.stop()
    running.worker = await service.startWorker()
  }

  /** As the worker that runs now logs it. */
  const runningBuild = () =>
    /"temporal_build":"([^"]+)","msg":"worker is polling"/.exec(running.worker.output())?.[1]

  /** The alert fires after a minute; the command lists what fails sooner, and which build is to blame. */
  async function untilListed(): Promise<string> {
    const from = Date.now()
    const good = runningBuild()
    for (;;) {
      const listed = (await repair()) as { to_reset: number; builds: Record<string, string>[] }
      // what failed on the bad build, and not on this one yet, goes on by itself
      const bad = listed.builds.find((pair) => pair.failing_on === good && pair.worked_on_by !== good)
      const seconds = ((Date.now() - from) / 1000).toFixed(0)
      if (bad !== undefined) {
        badBuildId = bad.worked_on_by
        return `${listed.to_reset} workflows are listed ${seconds} s after the rollback`
      }
      if (Date.now() - from > LIST_PATIENCE_MS) throw new Error('no workflow is listed')
      await delay(PAUSE_MS)
    }
  }

  /** Again until nothing is listed for a while: some fail at their next task only, and lists lag behind. */
  async function repairAll(): Promise<string> {
    const listed = await untilListed()
    const resets: number[] = []
    const reset = async (...args: string[]) =>
      void resets.push(Number((await repair('--yes', ...args)).reset))
    let quietSince = Date.now()
    for (const end = Date.now() + REPAIR_PATIENCE_MS; Date.now() - quietSince < QUIET_MS;) {
      if (Date.now() > end) throw new Error('workflows still fail')
      if (badBuildId !== undefined) await reset('--build', badBuildId)
      if ((await repair()).to_reset !== 0) await reset()
      if (resets.splice(0).some((count) => count > 0)) quietSince = Date.now()
      await delay(PAUSE_MS)
    }
    return listed
  }

  return [
    {
      mayLose: { leads: false, milestones: false },
      alerts: ['WorkflowsFail', 'ProcessRestarts', 'BuildsDiffer'],
      name: 'a bad version rolled out, and rolled back',
      leadUp: () => delay(4000),
      strike: rollOut,
      recover: rollBack,
      runbook: repairAll,
      verify: async (): Promise<Broken[]> => {
        const failing = async () => (await repair()).to_reset === 0
        const isRepaired = await until(failing).catch(() => false)
        return [
          ...brokenBy('the repair names the bad build', badBuildId === undefined ? ['none'] : []),
          ...brokenBy('no workflow’s task fails once they are repaired', isRepaired ? [] : ['some do']),
        ]
      },
    },
  ]
}
