import type { Client } from '@temporalio/client'
import { TASK_QUEUE } from './names.ts'

const CALL_LIMIT_MS = 2000
const WORKFLOW_TASKS = 1
/** Percent. */
const ALL = 100

/** The version of a worker that uses Worker Versioning. */
export interface WorkerVersion {
  deploymentName: string
  buildId: string
}

/**
 * Why a worker of this version gets no work, with the command that changes it; `undefined` if it gets some, or if Temporal
 * does not say.
 */
export async function idleVersion(client: Client, version: WorkerVersion): Promise<string | undefined> {
  const { deploymentName, buildId } = version
  const { namespace } = client.options
  const ask = () => client.workflowService.describeWorkerDeployment({ namespace, deploymentName })
  const { workerDeploymentInfo: info } = await client
    .withDeadline(Date.now() + CALL_LIMIT_MS, ask)
    .catch(() => ({ workerDeploymentInfo: undefined }))
  const { routingConfig: routing } = info ?? {}
  if (!routing) return undefined
  const isCurrent = routing.currentDeploymentVersion?.buildId === buildId
  // a ramp that was removed keeps its version, with a share of 0
  const isRamping =
    routing.rampingDeploymentVersion?.buildId === buildId && Number(routing.rampingVersionPercentage) > 0
  if (isCurrent || isRamping) return undefined
  return `version ${buildId} of ${deploymentName} is neither current nor ramping, so it gets no work: temporal worker deployment set-current-version --yes --deployment-name ${deploymentName} --build-id ${buildId}`
}

/** Why a worker without a version gets no work; otherwise as `idleVersion`. */
export async function idleUnversioned(client: Client): Promise<string | undefined> {
  const { namespace } = client.options
  const request = { namespace, taskQueue: { name: TASK_QUEUE }, taskQueueType: WORKFLOW_TASKS }
  const ask = () => client.workflowService.describeTaskQueue(request)
  const { versioningInfo: routing } = await client
    .withDeadline(Date.now() + CALL_LIMIT_MS, ask)
    .catch(() => ({ versioningInfo: undefined }))
  if (!routing) return undefined
  const { currentDeploymentVersion: current, rampingDeploymentVersion: ramping } = routing
  const percentage = Number(routing.rampingVersionPercentage)
  if (ramping && percentage >= ALL)
    return `${takesAll(ramping, 'ramps at 100 percent')} set-ramping-version --yes --deployment-name ${ramping.deploymentName} --build-id ${ramping.buildId} --delete`
  // a ramp to no version is one to the workers without one
  if (!current || (!ramping && percentage > 0)) return undefined
  return `${takesAll(current, 'is current')} set-current-version --yes --deployment-name ${current.deploymentName} --unversioned`
}

/** As Temporal answers them. */
type Routed = { [Name in keyof WorkerVersion]?: string | null }

function takesAll({ buildId, deploymentName }: Routed, why: string): string {
  return `version ${buildId} of ${deploymentName} ${why}, so a worker without a version gets no work: temporal worker deployment`
}
