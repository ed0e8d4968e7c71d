import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { listWorkflows } from '../../src/leads/comparison.ts'
import { isTemporalAway } from '../../src/temporal/away.ts'
import { atEnd } from '../support/at-end.ts'
import { registerNamespace } from '../support/namespace.ts'
import { temporalProxy } from '../support/temporal-proxy.ts'
import { until } from '../support/until.ts'

const QUERY = "WorkflowType = 'nobody-runs-it'"

describe('a list of workflows', () => {
  const address = process.env.TEST_TEMPORAL_ADDRESS ?? ''
  const namespace = `test-${randomBytes(6).toString('hex')}`
  let client: Client
  let isSilent = false

  beforeAll(async () => {
    const through = await temporalProxy(address, async (call) => {
      if (isSilent && call === 'ListWorkflowExecutions') await new Promise(() => {})
    })
    const connection = await Connection.connect({ address: through })
    atEnd(() => connection.close())
    await registerNamespace(connection, namespace)
    client = new Client({ connection, namespace })
    const start = (workflowId: string) =>
      client.workflow.start('nobody-runs-it', { workflowId, taskQueue: 'none', args: [] })
    // until the new namespace is known everywhere
    await until(() => start('0').catch(() => undefined))
    await Promise.all([start('1'), start('2')])
  })

  const ids = async (options: object, pause = async () => {}) => {
    const found: string[] = []
    for await (const { workflowId } of listWorkflows(client, QUERY, options)) {
      found.push(workflowId)
      await pause()
    }
    return found.toSorted()
  }

  it('may take longer than a page', async () => {
    await until(async () => (await ids({})).length === 3)
    expect(await ids({ pageSize: 1, pageLimitMs: 4000 }, () => delay(2100))).toEqual(['0', '1', '2'])
  })

  it('fails when Temporal no longer answers', async () => {
    isSilent = true
    const failed = await ids({ pageLimitMs: 300 }).catch((error: unknown) => error)
    expect(isTemporalAway(failed)).toBe(true)
  })
})
