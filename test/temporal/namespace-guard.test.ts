import { randomBytes } from 'node:crypto'
import { Connection } from '@temporalio/client'
import { beforeAll, describe, expect, it } from '@jest/globals'
import {
  createNamespaceGuard,
  giveNamespace,
  OtherDeployment,
  watchNamespace,
} from '../../src/temporal/namespace-guard.ts'
import { atEnd } from '../support/at-end.ts'
import { registerNamespace } from '../support/namespace.ts'
import { temporalProxy } from '../support/temporal-proxy.ts'

const PERMISSION_DENIED = 7
const UNIMPLEMENTED = 12

describe('the guard of a namespace', () => {
  const address = process.env.TEST_TEMPORAL_ADDRESS ?? ''
  let connection: Connection
  let namespace: string

  const connect = async (to: string) => {
    const made = await Connection.connect({ address: to })
    atEnd(() => made.close())
    return made
  }

  beforeAll(async () => {
    connection = await connect(address)
    namespace = `test-${randomBytes(6).toString('hex')}`
    await registerNamespace(connection, namespace)
  })

  const guardOf = (id: string, through = connection, log = { warn: () => {}, error: () => {} }) =>
    createNamespaceGuard(through, namespace, { deployment: async () => id, log, freshMs: 0 })

  it('lets one of two that come at once have it', async () => {
    await Promise.allSettled([guardOf('a')(), guardOf('b')()])
    // who wrote last has it, which the other sees when it looks again
    const looked = await Promise.allSettled([guardOf('a')(), guardOf('b')()])
    expect(looked.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  it('notices when the namespace is given to another', async () => {
    await giveNamespace(connection.workflowService, namespace, 'a')
    const stopping = new AbortController()
    const lost = Promise.withResolvers<void>()
    const guard = guardOf('a')
    const watching = watchNamespace(guard, { signal: stopping.signal, onLost: lost.resolve, intervalMs: 10 })
    await guard()
    await giveNamespace(connection.workflowService, namespace, 'b')
    await lost.promise
    await watching
    await expect(guard()).rejects.toThrow(OtherDeployment)
  })

  it.each([
    ['PERMISSION_DENIED', PERMISSION_DENIED],
    ['UNIMPLEMENTED', UNIMPLEMENTED],
  ])('goes on with one warning where Temporal answers %s to the claim', async (_, status) => {
    await giveNamespace(connection.workflowService, namespace, '')
    const managed = await connect(
      await temporalProxy(address, async (call) => (call === 'UpdateNamespace' ? status : undefined)),
    )
    const said: string[] = []
    const log = { warn: (line: string) => void said.push(line), error: () => {} }
    const guard = guardOf('a', managed, log as never)
    await guard()
    await guard()
    expect(said).toEqual([expect.stringContaining('does not let this service mark')])
  })

  it('is not deceived there about a namespace that others have marked', async () => {
    await giveNamespace(connection.workflowService, namespace, 'b')
    const managed = await connect(
      await temporalProxy(address, async (call) =>
        call === 'UpdateNamespace' ? PERMISSION_DENIED : undefined,
      ),
    )
    await expect(guardOf('a', managed)()).rejects.toThrow(OtherDeployment)
  })

  it('lets nothing through while Temporal cannot say whose it is', async () => {
    const UNAVAILABLE = 14
    const away = await connect(
      await temporalProxy(address, async (call) => (call === 'DescribeNamespace' ? UNAVAILABLE : undefined)),
    )
    await expect(guardOf('a', away)()).rejects.toThrow(/UNAVAILABLE|DEADLINE/)
  })
})
