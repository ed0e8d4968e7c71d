import type { Client } from '@temporalio/client'
import { expect, it } from '@jest/globals'
import { readConfig } from '../../src/config.ts'
import {
  deliveriesWorkerOptions,
  idleReason,
  scoresWorkerOptions,
  workerOptions,
} from '../../src/temporal/worker-options.ts'

const V1 = { deploymentName: 'referrals', buildId: 'v1' }
const V2 = { deploymentName: 'referrals', buildId: 'v2' }
const asV2 = { TEMPORAL_WORKER_BUILD_ID: 'v2' }

const configOf = (version: Record<string, string>) => {
  const environment = { ENVIRONMENT: 'sandbox', ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') }
  return readConfig('worker', {}, { ...environment, DATABASE_URL: 'postgresql://x/y', ...version })
}

it('each queue is polled as the version that is deployed, so that a rollback takes every task back', () => {
  const optionsOf = (version: Record<string, string>) =>
    [workerOptions, deliveriesWorkerOptions, scoresWorkerOptions].map(
      (options) =>
        (options(configOf(version)) as { workerDeploymentOptions?: unknown }).workerDeploymentOptions,
    )
  const deployment = { version: V2, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' }
  expect(optionsOf(asV2)).toEqual([deployment, deployment, deployment])
  expect(optionsOf({})).toEqual([undefined, undefined, undefined])
})

const MAKE_V2 = 'set-current-version --yes --deployment-name referrals --build-id v2'
const UNVERSIONED = 'set-current-version --yes --deployment-name referrals --unversioned'

it.each([
  [asV2, V2, null, 0, undefined],
  [asV2, V1, V2, 10, undefined],
  [asV2, V1, V2, 0, MAKE_V2],
  [asV2, V1, null, 0, MAKE_V2],
  [asV2, V2, V1, 100, MAKE_V2],
  [asV2, null, null, 0, MAKE_V2],
  [{}, null, null, 0, undefined],
  [{}, V1, null, 0, UNVERSIONED],
])('a worker %j, while %j is current and %j ramps with %d percent, needs: %s', async (...row) => {
  const [own, currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage, command] = row
  const versioningInfo = { currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage }
  const client = {
    options: { namespace: 'default' },
    withDeadline: (_: number, call: () => unknown) => call(),
    workflowService: { describeTaskQueue: async () => ({ versioningInfo }) },
  } as unknown as Client
  const reason = await idleReason(client, configOf(own))
  expect(reason?.replace(/.* temporal worker deployment /, '')).toBe(command)
})
