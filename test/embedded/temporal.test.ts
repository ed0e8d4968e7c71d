import { Connection } from '@temporalio/client'
import { expect, test } from '@jest/globals'
import path from 'node:path'
import { freePort } from '../../src/embedded/launch.ts'
import { findTemporal } from '../../src/embedded/temporal-program.ts'
import { startTemporal } from '../../src/embedded/temporal.ts'
import { temporaryFolder } from '../support/folder.ts'

test('serves the namespace and the search attributes as soon as it is ready, and again after a restart', async () => {
  const folder = temporaryFolder()
  const environment = process.env
  const program = await findTemporal(environment)
  for (const start of ['first', 'second']) {
    const server = await startTemporal({
      program,
      port: await freePort(32_000),
      databaseFile: path.join(folder, 'temporal.db'),
      logFile: path.join(folder, 'temporal.log'),
      environment: { ...environment, TEMPORAL_NAMESPACE: 'meant-for-clients', TEMPORAL_ADDRESS: 'nowhere:1' },
    })
    const connection = await Connection.connect({ address: server.address })
    const { customAttributes } = await connection.operatorService.listSearchAttributes({
      namespace: 'default',
    })
    expect({ start, names: Object.keys(customAttributes) }).toEqual({
      start,
      names: expect.arrayContaining([
        'LeadId',
        'PartnerId',
        'LeadStatus',
        'DeliveryState',
        'NextScoreUpdateAt',
      ]),
    })
    await connection.close()
    await server.stop()
  }
})
