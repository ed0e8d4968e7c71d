import type { Client } from '@temporalio/client'
import { type Routing, whyIdle, type WorkerVersion } from './decisions/routing.ts'
import { TASK_QUEUE } from './names.ts'

const CALL_LIMIT_MS = 2000
const WORKFLOW_TASKS = 1

/**
 * Why a worker of this version, or without one, gets no work; `undefined` if it gets some. The task queue is asked, which
 * learns of a change a moment after the deployment. Rejects while Temporal does not say.
 */
export async function idleReason(
  client: Client,
  version: WorkerVersion | undefined,
): Promise<string | undefined> {
  const { namespace } = client.options
  const request = { namespace, taskQueue: { name: TASK_QUEUE }, taskQueueType: WORKFLOW_TASKS }
  const { versioningInfo } = await client.withDeadline(Date.now() + CALL_LIMIT_MS, async () =>
    client.workflowService.describeTaskQueue(request),
  )
  return whyIdle(version, routingOf(versioningInfo))
}

/** As Temporal answers it. */
interface Answered {
  currentDeploymentVersion?: Partial<Record<keyof WorkerVersion, string | null>> | null
  rampingDeploymentVersion?: Partial<Record<keyof WorkerVersion, string | null>> | null
  rampingVersionPercentage?: number | null
}

function routingOf(answer: Answered | null | undefined): Routing {
  const versionOf = (version: Answered['currentDeploymentVersion']) =>
    version?.deploymentName && version.buildId
      ? { deploymentName: version.deploymentName, buildId: version.buildId }
      : undefined
  return {
    current: versionOf(answer?.currentDeploymentVersion),
    ramping: versionOf(answer?.rampingDeploymentVersion),
    share: answer?.rampingVersionPercentage ?? 0,
  }
}
