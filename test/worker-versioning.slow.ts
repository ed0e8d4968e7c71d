import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { findTemporal } from '../src/embedded/temporal-program.ts'
import { preview } from '../src/core/temporal/commands/workflow-repair.ts'
import { watchBuild } from '../src/core/temporal/commands/workflow-watch.ts'
import { contextOf } from './staff/context.ts'
import { leadsOf } from './support/leads.ts'
import type { ServiceProcess } from './support/processes.ts'
import { prepareService, type Service, type TestPartner } from './support/service.ts'
import { until } from './support/until.ts'

const execute = promisify(execFile)
const deploymentName = 'referrals'

describe('Worker Versioning', () => {
  let service: Service
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  let leadId: number

  beforeAll(async () => {
    service = await prepareService({ METRICS_PORT: '0' })
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    leadId = await leads.commit()
  })

  const startBuild = (buildId: string) =>
    service.startWorker({ TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId })
  const registered = async () => {
    const { client, namespace } = service
    const { workerDeploymentInfo } = await client.workflowService.describeWorkerDeployment({
      namespace,
      deploymentName,
    })
    return (workerDeploymentInfo?.versionSummaries ?? []).map((version) => version.deploymentVersion?.buildId)
  }
  const makeCurrent = (buildId: string) =>
    service.client.workflowService.setWorkerDeploymentCurrentVersion({
      namespace: service.namespace,
      deploymentName,
      buildId,
      identity: 'test',
    })
  const ready = async (worker: ServiceProcess) => {
    const answer = await fetch(`http://127.0.0.1:${worker.metricsPort}/readyz`)
    return { status: answer.status, text: await answer.text() }
  }
  /** Runs commands of the documentation, as they stand there, against this test's server. */
  const runDocumented = async (lines: string[], builds: { OLD: string; NEW: string }) => {
    for (const line of lines) {
      const [program = '', ...args] = line
        .replace(/\b(OLD|NEW)\b/g, (name) => builds[name as 'OLD'])
        .split(' ')
      const where = ['--address', service.environment.TEMPORAL_ADDRESS, '--namespace', service.namespace]
      const command =
        program === 'temporal' ? await findTemporal({ environment: process.env, report: () => {} }) : ''
      await execute(command, [...args, ...where])
    }
  }
  const versioned: ServiceProcess[] = []
  const documented = () => {
    const [, section = ''] = readFileSync('docs/operations/releases.md', 'utf8').split(
      '### Use Worker Versioning',
    )
    const [text = ''] = section.split('\n## ')
    return [...text.matchAll(/^temporal .*$/gm)].map(([line]) => line)
  }
  const arrived = (count: number) => partner.endpoint.until(() => leads.arrivals(leadId).length >= count)
  /** The build of each workflow task of the lead, in order. */
  const builds = async () => {
    const { events } = await service.client.workflow.getHandle(`lead-${leadId}`).fetchHistory()
    return (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: task }) =>
      task ? [task.deploymentVersion?.buildId] : [],
    )
  }

  it('registers a build that polls, which gets no work until it is made current', async () => {
    const worker = await startBuild('one')
    versioned.push(worker)
    expect(await until(async () => (await registered().catch(() => undefined))?.includes('one'))).toBe(true)
    await until(async () => {
      const started = service.sql.selectFrom('leads').select('workflow_started_at').where('id', '=', leadId)
      return (await started.executeTakeFirst())?.workflow_started_at !== null
    })
    expect(await builds()).toEqual([])
    expect(await ready(worker)).toEqual({
      status: 503,
      text: expect.stringContaining('version one of referrals is neither current nor ramping'),
    })
    const said = 'so it gets no work: temporal worker deployment set-current-version --yes'
    await until(async () => worker.output().includes(said))
    await makeCurrent('one')
    await arrived(1)
    expect(await until(async () => (await ready(worker)).status === 200)).toBe(true)
    expect(new Set(await builds())).toEqual(new Set(['one']))
  })

  it('hands an open lead over to the next build once that is current', async () => {
    versioned.push(await startBuild('two'))
    await until(async () => (await registered()).includes('two'))
    await makeCurrent('two')
    // the server tells its task queues in its own time
    await until(async () => {
      await service.referrals.signal(leadId, 'wake')
      return (await builds()).at(-1) === 'two'
    })
    const before = (await builds()).length
    await service.referrals.signal(leadId, 'contract_signed')
    await arrived(2)
    expect(new Set((await builds()).slice(before))).toEqual(new Set(['two']))
    expect(leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2])
    expect(await leads.names(leadId)).toEqual(['lead_received', 'contract_signed'])
  })

  it('lets a repair find the workflows on which a build has worked', async () => {
    const context = await contextOf(service.environment)
    const touchedBy = async (build: string) => (await preview(context, { build })).json.to_reset
    await until(async () => (await touchedBy('two')) === 1)
    expect(await touchedBy('three')).toBe(0)
    // one that did nothing shows nothing
    const watch = (build: string, atLeast = 1) => watchBuild(context, build, { seconds: 0, atLeast })
    expect(await watch('two')).toMatchObject({ failed: false, json: { fault: null, workflows: 1 } })
    const idle = 'it has worked on 0 workflows, and 1 are needed to judge it'
    expect(await watch('three')).toMatchObject({ failed: true, json: { fault: idle } })
    expect(await watch('three', 0)).toMatchObject({ failed: false })
  })

  it('rolls out and back by the commands of the documentation, unattended, and leaves no ramp', async () => {
    const { client, namespace } = service
    const routing = async () => {
      const answer = await client.workflowService.describeWorkerDeployment({ namespace, deploymentName })
      const { currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage } =
        answer.workerDeploymentInfo?.routingConfig ?? {}
      const ramp = rampingVersionPercentage === 0 ? undefined : rampingDeploymentVersion?.buildId
      return [currentDeploymentVersion?.buildId, ramp]
    }
    const commands = documented()
    expect(commands).toHaveLength(5)
    const roll = { OLD: 'two', NEW: 'one' }
    await runDocumented(commands.slice(0, 1), roll)
    expect(await routing()).toEqual(['two', 'one'])
    await runDocumented(commands.slice(2, 4), roll)
    expect(await routing()).toEqual(['two', undefined])
    await runDocumented(commands.slice(1, 2), roll)
    expect(await routing()).toEqual(['one', undefined])
  })

  it('gives no work to a version whose ramp was removed, nor to the current one while another has all: both say so', async () => {
    const [first, second] = versioned as [ServiceProcess, ServiceProcess]
    const becomes = (worker: ServiceProcess, status: number) =>
      until(async () => (await ready(worker)).status === status)
    const [ramp = ''] = documented()
    const roll = { OLD: 'one', NEW: 'two' }
    await becomes(second, 503)
    await runDocumented([ramp], roll)
    await becomes(second, 200)
    await runDocumented([ramp.replace(/\d+$/, '100')], roll)
    await becomes(first, 503)
    const remove =
      'temporal worker deployment set-ramping-version --yes --deployment-name referrals --build-id two --delete'
    expect((await ready(first)).text).toBe(
      `not ready: version two of referrals ramps at 100 percent, so version one of referrals gets no work: ${remove}\n`,
    )
    await runDocumented([remove], roll)
    await becomes(first, 200)
    await becomes(second, 503)
    expect((await ready(second)).text).toContain('version two of referrals is neither current nor ramping')
  })

  it('is turned off by a command, until which workers without a version get no work and say so', async () => {
    const worker = await service.startWorker()
    const off =
      'temporal worker deployment set-current-version --yes --deployment-name referrals --unversioned'
    expect(documented()).toContain(off)
    const reason = `version one of referrals is current, so a worker without a version gets no work: ${off}`
    expect(await ready(worker)).toEqual({ status: 503, text: `not ready: ${reason}\n` })
    await until(async () => worker.output().includes(reason))
    await runDocumented([off], { OLD: 'two', NEW: 'one' })
    expect(await until(async () => (await ready(worker)).status === 200)).toBe(true)
    // no version at all is current now
    for (const build of versioned) expect((await ready(build)).status).toBe(503)
    await Promise.all(versioned.map((build) => build.stop()))
    await service.referrals.signal(leadId, 'escrow_funded')
    await arrived(3)
    expect((await builds()).at(-1)).toBeUndefined()
  })
})
