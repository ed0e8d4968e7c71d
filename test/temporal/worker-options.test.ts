import { expect, it } from '@jest/globals'
import { readConfig } from '../../src/config.ts'
import {
  deliveriesWorkerOptions,
  scoresWorkerOptions,
  workerOptions,
} from '../../src/temporal/worker-options.ts'

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
