import { expect, it } from '@jest/globals'
import {
  deliveriesWorkerOptions,
  scoresWorkerOptions,
  workerOptions,
} from '../../src/temporal/worker-options.ts'
import { readConfig } from '../../src/config.ts'

const optionsOf = (version: Record<string, string>) => {
  const environment = { ENVIRONMENT: 'sandbox', ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') }
  const config = readConfig('worker', {}, { ...environment, DATABASE_URL: 'postgresql://x/y', ...version })
  return [workerOptions, deliveriesWorkerOptions, scoresWorkerOptions].map(
    (options) => (options(config) as { workerDeploymentOptions?: unknown }).workerDeploymentOptions,
  )
}

it('each queue is polled as the version that is deployed, so that a rollback takes every task back', () => {
  const version = { deploymentName: 'referrals', buildId: 'v2' }
  const deployment = { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' }
  const set = { TEMPORAL_DEPLOYMENT_NAME: 'referrals', TEMPORAL_WORKER_BUILD_ID: 'v2' }
  expect(optionsOf(set)).toEqual(Array.from({ length: 3 }, () => deployment))
  expect(optionsOf({})).toEqual(Array.from({ length: 3 }, () => undefined))
})
