import { setTimeout as delay } from 'node:timers/promises'
import { badBuild } from '../support/bad-build.ts'
import { startProcess } from '../support/processes.ts'
import { type Broken, brokenBy } from './check.ts'
import type { Disaster, Ground } from './rehearse.ts'
import { repairUntilQuiet, stillFailing } from './repairing.ts'

/** How long the bad version works. */
const BAD_MS = 10_000
const LIST_PATIENCE_MS = 90_000
const PAUSE_MS = 2000

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

  async function repairAll(): Promise<string> {
    const listed = await untilListed()
    await repairUntilQuiet(stack, badBuildId)
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
      verify: async (): Promise<Broken[]> => [
        ...brokenBy('the repair names the bad build', badBuildId === undefined ? ['none'] : []),
        ...(await stillFailing(stack)),
      ],
    },
  ]
}
