import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { watchBuild } from '../../src/core/temporal/commands/workflow-watch.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { atEnd } from '../support/at-end.ts'
import { sharedService } from '../support/shared-service.ts'
import { contextOf } from './context.ts'

const NOTHING = JSON.stringify({ data: { result: [] } })
/** What it asks at each look. */
const QUERIES = 4

describe('workflow watch', () => {
  let context: StaffContext
  beforeAll(async () => {
    context = await contextOf((await sharedService()).environment)
  })

  /** A Prometheus that has nothing, and answers a look with an error as `isDown` says of its number. */
  async function prometheus(isDown: (look: number) => boolean) {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(new URL(request.url ?? '', 'http://x').searchParams.get('query') ?? '')
      const look = Math.ceil(asked.length / QUERIES)
      response.writeHead(isDown(look) ? 503 : 200, { 'content-type': 'application/json' }).end(NOTHING)
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    atEnd(async () => void server.close())
    return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }
  const watch = (url: string, pace: { lookMs: number; silentMs: number }) =>
    watchBuild(context, 'b', { seconds: 2, atLeast: 0, prometheus: url, ...pace })

  it('says nothing of a build by a Prometheus that is silent for a moment, and looks again', async () => {
    const { url, asked } = await prometheus((look) => look === 2 || look === 3)
    const { json } = await watch(url, { lookMs: 100, silentMs: 10_000 })
    expect(json).toMatchObject({ is_good: true, fault: null })
    expect(asked.length / QUERIES).toBeGreaterThanOrEqual(4)
    expect(asked[0]).toBe(
      'count by (alertname) (ALERTS{alertstate="firing", severity="page", service="partner-referral-service"})',
    )
  })

  it.each([
    ['at the first look', (look: number) => look === 1, 10_000],
    ['for too long', (look: number) => look > 1, 0],
  ])('ends if it does not answer %s', async (_, isDown, silentMs) => {
    const { url } = await prometheus(isDown)
    await expect(watch(url, { lookMs: 10, silentMs })).rejects.toThrow(
      `Prometheus does not answer at ${url}: correct --prometheus.`,
    )
  })
})
