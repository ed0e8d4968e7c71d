import { randomBytes } from 'node:crypto'
import { Connection } from '@temporalio/client'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { readTemporal } from '../../src/config.ts'
import { createTemporalClient } from '../../src/temporal/client.ts'
import { createNamespaceGuard, giveNamespace, OtherDeployment } from '../../src/temporal/namespace-guard.ts'
import { keepSchedules } from '../../src/temporal/schedules.ts'
import { atEnd } from '../support/at-end.ts'
import { registerNamespace } from '../support/namespace.ts'
import { temporalProxy } from '../support/temporal-proxy.ts'
import { until } from '../support/until.ts'

const PERMISSION_DENIED = 7
const UNIMPLEMENTED = 12
const UNAVAILABLE = 14

describe('the guard of a namespace', () => {
  const address = process.env.TEST_TEMPORAL_ADDRESS ?? ''
  const namespace = `test-${randomBytes(6).toString('hex')}`
  const said: string[] = []
  const say = (line: unknown) => void said.push(String(line))
  const log = { info: say, warn: say, error: say }
  let connection: Connection

  const connect = async (to: string) => {
    const made = await Connection.connect({ address: to })
    atEnd(() => made.close())
    return made
  }
  /** Temporal, where one call is answered with a status. */
  const refusing = async (refused: string, status: number) =>
    connect(await temporalProxy(address, async (call) => (call === refused ? status : undefined)))
  const guardOf = (id: string, through = connection) =>
    createNamespaceGuard(through, namespace, { deployment: async () => id, log, freshMs: 0 })
  const give = (id: string) => giveNamespace(connection.workflowService, namespace, id)

  beforeAll(async () => {
    connection = await connect(address)
    await registerNamespace(connection, namespace)
  })

  it('gives it to one of two deployments that claim it at once', async () => {
    await Promise.allSettled([guardOf('a')(), guardOf('b')()])
    // the last writer has it, and the other sees that when it reads again
    const looked = await Promise.allSettled([guardOf('a')(), guardOf('b')()])
    expect(looked.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  it('is asked again by the worker’s schedules, which notice when the namespace is given to another', async () => {
    await give('b')
    const temporal = readTemporal(undefined, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace })
    const remedies: string[] = []
    const onOther = (remedy: string) => void remedies.push(remedy)
    const { client } = createTemporalClient(temporal, { deployment: async () => 'a', onOther })
    const stopping = new AbortController()
    const keeping = keepSchedules(client, { log, signal: stopping.signal })
    await until(async () => remedies.length > 0)
    stopping.abort()
    await keeping
    expect(remedies).toEqual([expect.stringContaining('belongs to another deployment (b)')])
  })

  it.each([PERMISSION_DENIED, UNIMPLEMENTED])(
    'goes on with one warning where Temporal answers the claim with status %d',
    async (status) => {
      await give('')
      said.length = 0
      const guard = guardOf('a', await refusing('UpdateNamespace', status))
      await guard()
      await guard()
      expect(said).toEqual([expect.stringContaining('does not let this service mark')])
    },
  )

  it('still refuses a namespace that another deployment has marked, if it may not write itself', async () => {
    await give('b')
    const guard = guardOf('a', await refusing('UpdateNamespace', PERMISSION_DENIED))
    await expect(guard()).rejects.toThrow(OtherDeployment)
  })

  it('lets nothing through while Temporal cannot say whose it is', async () => {
    const guard = guardOf('a', await refusing('DescribeNamespace', UNAVAILABLE))
    await expect(guard()).rejects.toThrow(/UNAVAILABLE|DEADLINE/)
  })
})
