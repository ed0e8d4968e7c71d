import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, it } from '@jest/globals'
import { product } from '../chaos/sabotage.ts'
import { temporaryFolder } from '../support/folder.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import { runToEnd, type ServiceProcess, startProcess } from '../support/processes.ts'
import { prepareService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { DEPLOYMENT, releaseMachine } from './rollout.ts'
import { startTraffic } from './traffic.ts'

/**
 * Ample for two cores that other tests use too: once a build is current, a worker that has just started reads the
 * histories of all leads. A milestone of a version that no worker has would wait for longer than the test may take.
 */
const SLOWEST_MS = 30_000

/**
 * What holds for every release.
 *
 * @param folderOfTwo where the code of the second build is.
 */
export function releases(folderOfTwo: string): void {
  let service: Service
  let machine: Awaited<ReturnType<typeof releaseMachine>>
  let traffic: Awaited<ReturnType<typeof startTraffic>>
  const running = new Map<string, ServiceProcess>()

  /** Makes a build current, or gives it a share. */
  const route = (buildId: string, percentage?: number) => {
    const { client, namespace } = service
    const request = { namespace, deploymentName: DEPLOYMENT, buildId, identity: 'test' }
    return percentage === undefined
      ? client.workflowService.setWorkerDeploymentCurrentVersion(request)
      : client.workflowService.setWorkerDeploymentRampingVersion({ ...request, percentage })
  }

  beforeAll(async () => {
    const temporal = await ownTemporal([
      // three minutes each by default
      'matching.wv.VersionDrainageStatusVisibilityGracePeriod="1s"',
      'matching.wv.VersionDrainageStatusRefreshInterval="1s"',
    ])
    service = await prepareService({ TEMPORAL_ADDRESS: temporal.address })
    const partner = await service.addPartner()
    const builds = { one: product, two: folderOfTwo }
    const start = async (build: string) => {
      const version = { TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT, TEMPORAL_WORKER_BUILD_ID: build }
      const environment = { ...service.environment, ...version }
      running.set(build, await startProcess('src/worker.ts', environment, builds[build as 'one']))
    }
    const stop = async (build: string) => {
      await running.get(build)?.stop()
      running.delete(build)
    }
    machine = await releaseMachine(service, builds, { start, stop })
    await start('one')
    // Temporal knows a version a moment after its first poll
    await until(() => route('one').catch(() => undefined))
    traffic = await startTraffic(service, partner)
  }, 60_000)

  it('rolls out under traffic by the documented commands: nothing is lost or sent twice, and nobody waits', async () => {
    const settings = { RAMP: '30', WATCH: '3', PATIENCE: '60' }
    const released = await machine.release({ OLD: 'one', NEW: 'two', ...settings })
    expect(released).toMatchObject({ code: 0, stderr: '' })
    expect(released.stdout).toMatch(/^\{"replayed":30,"failures":\{\}\}$[^]+\nbuild two is released\n$/m)
    expect(await machine.routing()).toEqual(['two', 0])
    expect([...running.keys()]).toEqual(['two'])
    await traffic.stop()
    await traffic.arrived()
    const { counts, slowest } = await traffic.outcome()
    for (const { taken, ...reached } of counts) expect(reached).toEqual({ recorded: taken, delivered: taken })
    expect(slowest).toBeLessThan(SLOWEST_MS)
  }, 120_000)

  it('changes nothing if another build is current than it was told, and does only what is left if repeated', async () => {
    const settings = { RAMP: '30', WATCH: '1', PATIENCE: '60' }
    const stale = await machine.release({ OLD: 'zero', NEW: 'three', ...settings }, ['ramp'])
    expect(stale).toMatchObject({ code: 1, stdout: '' })
    expect(stale.stderr).toMatch(/^OLD is zero and NEW is three, but Temporal has two as the current build: /)
    const repeated = await machine.release({ OLD: 'one', NEW: 'two', ...settings })
    expect(repeated).toMatchObject({ code: 0, stderr: '' })
    expect(repeated.stdout).toMatch(/^build two is current already: nothing to gate\n(?:.*\n){3}== finish\n/)
    expect(await machine.rollBack({ OLD: 'zero', NEW: 'two' })).toMatchObject({
      code: 1,
      stderr: 'no worker of build zero polls: start them, or correct OLD. Nothing was changed.\n',
    })
    expect(await machine.routing()).toEqual(['two', 0])
    expect([...running.keys()]).toEqual(['two'])
  }, 60_000)

  it.each(['SIGHUP', 'SIGTERM', 'a reader that is gone'] as const)(
    'is taken back at once by %s while it ramps',
    async (ending) => {
      const settings = { OLD: 'two', NEW: 'one', RAMP: '30', WATCH: '300' }
      const releasing = machine.beginRelease(settings, ['ramp'])
      const ended = once(releasing, 'exit')
      await until(async () => (await machine.routing())[1] === 30)
      if (ending === 'a reader that is gone') {
        releasing.stdout.destroy()
        releasing.stderr.destroy()
        releasing.kill('SIGPIPE')
      } else releasing.kill(ending)
      await ended
      expect(await machine.routing()).toEqual(['two', 0])
    },
    60_000,
  )

  it('takes no sample into a folder that has histories already', async () => {
    const folder = temporaryFolder()
    writeFileSync(path.join(folder, 'old.json'), '{}')
    expect(await runToEnd('src/sample-histories.ts', service.environment, [folder])).toEqual({
      code: 1,
      stdout: '',
      stderr: `${folder} is not empty: what is in it would be replayed too. Name another folder.\n`,
    })
  })

  it('is taken back by one command, before and after it is current, and again', async () => {
    const back = { OLD: 'two', NEW: 'one' }
    const rolledBack = async () => {
      expect(await machine.rollBack(back)).toMatchObject({ code: 0, stderr: '' })
      expect(await machine.routing()).toEqual(['two', 0])
    }
    await route('one', 5)
    expect(await machine.routing()).toEqual(['two', 5])
    await rolledBack()
    await route('one')
    expect(await machine.routing()).toEqual(['one', 0])
    await rolledBack()
    await rolledBack()
    // nothing was started since
    expect([...running.keys()]).toEqual(['two'])
  }, 60_000)
}
