import { randomBytes } from 'node:crypto'
import { Client, Connection } from '@temporalio/client'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { TASK_QUEUE } from '../../src/temporal/names.ts'
import { isPolling } from '../../src/temporal/away.ts'
import { atEnd } from '../support/at-end.ts'
import { registerNamespace } from '../support/namespace.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import { temporalProxy } from '../support/temporal-proxy.ts'
import { until } from '../support/until.ts'

const PARTITIONS = 4
const POLL_MS = 60_000
/** More than any partition is asked by. */
const IDENTITIES = Array.from({ length: 12 }, (_, index) => `worker-${index}`)

describe('whether a worker polls', () => {
  let client: Client
  let isSilent = false

  beforeAll(async () => {
    const { address } = await ownTemporal([
      `matching.numTaskqueueReadPartitions=${PARTITIONS}`,
      `matching.numTaskqueueWritePartitions=${PARTITIONS}`,
    ])
    const through = await temporalProxy(address, async (call) => {
      if (isSilent && call === 'DescribeTaskQueue') await new Promise(() => {})
    })
    const connection = await Connection.connect({ address: through })
    atEnd(() => connection.close())
    const namespace = `test-${randomBytes(6).toString('hex')}`
    await registerNamespace(connection, namespace)
    client = new Client({ connection, namespace })
    // until the new namespace is known everywhere
    await until(() =>
      isPolling(client).then(
        () => true,
        () => false,
      ),
    )
    // as workers that have nothing to do
    const ended = new AbortController()
    const polls = IDENTITIES.map((identity) => {
      const request = { namespace, taskQueue: { name: TASK_QUEUE }, identity }
      const poll = () => client.workflowService.pollWorkflowTaskQueue(request)
      return client.withAbortSignal(ended.signal, () => client.withDeadline(Date.now() + POLL_MS, poll))
    })
    const settled = Promise.allSettled(polls)
    atEnd(async () => {
      ended.abort()
      await settled
    })
  }, 60_000)

  it('is known at once of each, whichever partition of the task queue it polls', async () => {
    await until(async () => {
      const known = await Promise.all(IDENTITIES.map((identity) => isPolling(client, identity)))
      return known.every(Boolean)
    })
    expect(await isPolling(client)).toBe(true)
  })

  it('is not known of one that does not', async () => {
    expect(await isPolling(client, 'worker-99')).toBe(false)
  })

  it('cannot be known while Temporal does not answer', async () => {
    isSilent = true
    await expect(isPolling(client, IDENTITIES[0])).rejects.toThrow('DEADLINE_EXCEEDED')
  })
})
