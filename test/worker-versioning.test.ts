import { beforeAll, describe, expect, it } from '@jest/globals'
import { leadsOf } from './support/leads.ts'
import { prepareService, type Service, type TestPartner } from './support/service.ts'
import { until } from './support/until.ts'

const deploymentName = 'referrals'

describe('Worker Versioning', () => {
  let service: Service
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  let leadId: number

  beforeAll(async () => {
    service = await prepareService()
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
  const arrived = (count: number) => partner.endpoint.until(() => leads.arrivals(leadId).length >= count)
  /** The build of each workflow task of the lead, in order. */
  const builds = async () => {
    const { events } = await service.client.workflow.getHandle(`lead-${leadId}`).fetchHistory()
    return (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: task }) =>
      task ? [task.deploymentVersion?.buildId] : [],
    )
  }

  it('registers a build that polls, which gets no work until it is made current', async () => {
    await startBuild('one')
    expect(await until(async () => (await registered().catch(() => undefined))?.includes('one'))).toBe(true)
    await until(async () => {
      const started = service.sql.selectFrom('leads').select('workflow_started_at').where('id', '=', leadId)
      return (await started.executeTakeFirst())?.workflow_started_at !== null
    })
    expect(await builds()).toEqual([])
    await makeCurrent('one')
    await arrived(1)
    expect(new Set(await builds())).toEqual(new Set(['one']))
  })

  it('hands an open lead over to the next build once that is current', async () => {
    await startBuild('two')
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
})
