import type { Client } from '@temporalio/client'
import { TASK_QUEUE } from './names.ts'

/** A version of a deployment, as Worker Versioning names it. */
export interface WorkerVersion {
  deploymentName: string
  buildId: string
}

/** Who gets a task queue's work. No version stands for the workers without one. */
export interface Routing {
  current: WorkerVersion | undefined
  ramping: WorkerVersion | undefined
  /** Percent of the workflows that go to `ramping`; 0 if the ramp was removed. */
  share: number
}

const ALL = 100

/**
 * Why the workers of a version, or those without one, get no work, with the command that changes it; `undefined` if they
 * get some.
 *
 * | They are                         | They get                  |
 * | -------------------------------- | ------------------------- |
 * | ramping, with a share above 0    | work                      |
 * | current                          | work                      |
 * | current, and another one has all | none: end that ramp       |
 * | neither                          | none: make it current     |
 */
function whyIdle(version: WorkerVersion | undefined, routing: Routing): string | undefined {
  const { current, ramping, share } = routing
  if (share > 0 && isSame(version, ramping)) return undefined
  if (!isSame(version, current)) return notCurrent(version, current)
  if (share < ALL) return undefined
  const takesAll = `${ramping === undefined ? 'workers without a version ramp' : `${nameOf(ramping)} ramps`} at 100 percent`
  return `${takesAll}, so ${nameOf(version)} gets no work: ${command('set-ramping-version', ramping, version)} --delete`
}

function notCurrent(version: WorkerVersion | undefined, current: WorkerVersion | undefined): string {
  const why =
    version === undefined
      ? `${nameOf(current)} is current, so a worker without a version gets no work`
      : `${nameOf(version)} is neither current nor ramping, so it gets no work`
  return `${why}: ${command('set-current-version', version, current)}`
}

const isSame = (one: WorkerVersion | undefined, other: WorkerVersion | undefined) =>
  one?.buildId === other?.buildId && one?.deploymentName === other?.deploymentName

function nameOf(version: WorkerVersion | undefined): string {
  return version === undefined
    ? 'a worker without a version'
    : `version ${version.buildId} of ${version.deploymentName}`
}

/** @param other of the same deployment, which has a name where `version` is none. */
function command(verb: string, version: WorkerVersion | undefined, other: WorkerVersion | undefined): string {
  const name = version?.deploymentName ?? other?.deploymentName ?? 'NAME'
  const which = version === undefined ? '--unversioned' : `--build-id ${version.buildId}`
  return `temporal worker deployment ${verb} --yes --deployment-name ${name} ${which}`
}

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
