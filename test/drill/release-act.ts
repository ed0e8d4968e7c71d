import { setTimeout as delay } from 'node:timers/promises'
import { product } from '../chaos/sabotage.ts'
import { DEPLOYMENT, releaseMachine } from '../release/rollout.ts'
import { badBuild } from '../support/bad-build.ts'
import { type ServiceProcess, startProcess } from '../support/processes.ts'
import { brokenBy } from './check.ts'
import type { Disaster, Ground } from './rehearse.ts'
import { repairUntilQuiet, stillFailing } from './repairing.ts'

/** Of the leads: with few of them, five percent may be none. */
const RAMP = '30'

/** A build that does not fit the histories is stopped by the gate; forced past it, it is taken back while it ramps. */
export async function releaseDisasters({ stack }: Ground): Promise<Disaster[]> {
  const { service, running } = stack
  const builds = { good: product, bad: badBuild() }
  const workers = new Map<string, ServiceProcess>([['unversioned', running.worker]])
  const machine = await releaseMachine(service, builds, {
    start: async (build) => {
      const version = { TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT, TEMPORAL_WORKER_BUILD_ID: build }
      const environment = { ...service.environment, ...version }
      workers.set(build, await startProcess('src/worker.ts', environment, builds[build as 'good']))
      if (build === 'good') running.worker = workers.get(build) ?? running.worker
    },
    stop: async (build) => workers.get(build)?.stop(),
  })
  const faults: string[] = []
  const expectEnd = async (code: number, release: ReturnType<typeof machine.release>) => {
    const ended = await release
    if (ended.code !== code) faults.push(`${ended.code}: ${ended.stdout} ${ended.stderr}`)
    return ended.stderr.trim().split('\n').at(-2) ?? ''
  }
  const bad = { OLD: 'good', NEW: 'bad', RAMP, WATCH: '90' }

  return [
    {
      mayLose: { leads: false, milestones: false },
      alerts: ['WorkflowsFail', 'BuildsDiffer'],
      name: 'a bad build released by Worker Versioning past the gate, and taken back by the watch',
      leadUp: async () => {
        const good = { OLD: 'unversioned', NEW: 'good', RAMP, WATCH: '2' }
        await expectEnd(0, machine.release(good, ['start', 'ramp', 'current', 'finish']))
        await delay(2000)
        return `the gate: ${await expectEnd(1, machine.release(bad, ['gate']))}`
      },
      strike: async () => {
        const from = Date.now()
        await expectEnd(1, machine.release(bad, ['start', 'ramp']))
        return `taken back ${((Date.now() - from) / 1000).toFixed(0)} s after its start`
      },
      recover: async () => {
        const routing = await machine.routing()
        if (routing[0] !== 'good' || routing[1] !== 0) faults.push(`routing: ${routing.join(', ')}`)
      },
      runbook: () => repairUntilQuiet(stack, 'bad'),
      verify: async () => [
        ...brokenBy('the documented commands end as documented', faults),
        ...(await stillFailing(stack)),
      ],
    },
  ]
}
