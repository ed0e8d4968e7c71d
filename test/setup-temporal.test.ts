import { randomBytes } from 'node:crypto'
import { Client, Connection } from '@temporalio/client'
import { expect, it } from '@jest/globals'
import { runToEnd } from './support/processes.ts'

it('sets up a namespace that somebody asks for all the time, as a worker does once Temporal was lost', async () => {
  const address = process.env.TEST_TEMPORAL_ADDRESS ?? ''
  const namespace = `test-${randomBytes(6).toString('hex')}`
  const connection = await Connection.connect({ address })
  const { workflow } = new Client({ connection, namespace })
  const done = new AbortController()
  const ask = async () => {
    while (!done.signal.aborted) await workflow.count().catch(() => undefined)
  }
  const asking = ask()
  const setUp = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace }
  const { code, stderr } = await runToEnd('src/setup-temporal.ts', setUp)
  done.abort()
  await asking
  await connection.close()
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})
