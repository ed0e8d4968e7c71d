import type { ServerResponse } from 'node:http'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Resends } from '../../workflows/resend.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { pauseEndpoint, resumeEndpoint } from '../support/endpoint-states.ts'

describe('resends that a partner asks for', () => {
  let service: SharedService
  let port: number
  let partner: TestPartner

  beforeAll(async () => {
    service = await sharedService()
    ;({ port } = service)
  }, 60_000)

  beforeEach(async () => {
    partner = await service.addPartner()
  })

  const settled = (count: number) => fillDeliveries(service.sql, partner.id, count, 'delivered')
  /** Twenty at a time: as many as an API has connections to PostgreSQL. */
  const ask = async (eventIds: readonly string[]) => {
    const { post } = partnerCalls(port, partner.key)
    const answers: Awaited<ReturnType<typeof post>>[] = []
    for (let asked = 0; asked < eventIds.length; asked += 20) {
      const some = eventIds.slice(asked, asked + 20)
      answers.push(...(await Promise.all(some.map((event_id) => post('resend-webhook', { event_id })))))
    }
    return answers
  }
  const statuses = async (eventIds: readonly string[]) => {
    const count = { 200: 0, 429: 0 }
    for (const { status } of await ask(eventIds)) count[status as 200 | 429] += 1
    return count
  }
  const arrived = () => partner.endpoint.arrivals.map(({ id }) => id)
  /** The partner's: other files' have theirs in the same namespace. */
  const workflows = async () => {
    const ids: string[] = []
    const isOwn = new RegExp(`\\b${partner.id}\\b`)
    for await (const { workflowId } of service.client.workflow.list({ query: "WorkflowType = 'resend'" }))
      if (isOwn.test(workflowId)) ids.push(workflowId)
    return ids
  }

  it('are one workflow and one request at a time, however many are asked for at once', async () => {
    const inFlight = new Set<ServerResponse>()
    let most = 0
    partner.endpoint.answer = (_, response) => {
      inFlight.add(response)
      // answered, or not in time
      response.on('close', () => inFlight.delete(response))
      most = Math.max(most, inFlight.size)
    }
    expect(await statuses(await settled(600))).toEqual({ 200: 600, 429: 0 })
    for (const turn of [1, 2, 3]) {
      await partner.endpoint.until((arrivals) => arrivals.length >= turn)
      await until(async () => (await workflows()).length > 0)
      expect({ most, workflows: await workflows() }).toEqual({ most: 1, workflows: [`resend-${partner.id}`] })
      for (const response of inFlight) response.writeHead(200).end()
    }
    expect(new Set(arrived()).size).toBe(arrived().length)
  })

  it('are at most 1,000 that wait: beyond, 429 says why and when to come back, to this partner alone', async () => {
    await pauseEndpoint(service.sql, partner.id)
    const [first = '', ...others] = await settled(1020)
    expect(await statuses([first])).toEqual({ 200: 1, 429: 0 })
    expect(await statuses(others)).toEqual({ 200: 999, 429: 20 })
    // one that waits already is not one more
    expect(await statuses([first, first])).toEqual({ 200: 2, 429: 0 })
    const response = await fetch(`http://127.0.0.1:${port}/v1/resend-webhook`, {
      method: 'POST',
      headers: { authorization: `Service-Key ${partner.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ event_id: (await settled(1))[0] }),
    })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '15'])
    expect(await response.json()).toEqual({
      success: false,
      error: {
        code: 'RATE_LIMITED',
        message: expect.stringMatching(/^1,000 of your webhooks are already waiting /),
      },
    })
    partner = await service.addPartner()
    expect(await statuses(await settled(1))).toEqual({ 200: 1, 429: 0 })
  })

  it('are one for an event, however often it is asked for, and another after that', async () => {
    const answered = Promise.withResolvers<void>()
    partner.endpoint.answer = (_, response) => void answered.promise.then(() => response.writeHead(500).end())
    const [first = '', second = ''] = await settled(2)
    expect(await statuses([first, first, first])).toEqual({ 200: 3, 429: 0 })
    await partner.endpoint.until((arrivals) => arrivals.length === 1)
    expect(await statuses([first, second])).toEqual({ 200: 2, 429: 0 })
    answered.resolve()
    await partner.endpoint.until((arrivals) => arrivals.length === 2)
    expect(arrived()).toEqual([first, second])
    await until(async () => (await waiting()) === 0)
    expect(await statuses([first])).toEqual({ 200: 1, 429: 0 })
    await partner.endpoint.until((arrivals) => arrivals.length === 3)
    expect(arrived()).toEqual([first, second, first])
    expect(partner.endpoint.arrivals.every(({ replay, verified }) => verified && replay === 'true')).toBe(
      true,
    )
  })

  it('wait while the endpoint is paused, and go out after its resume', async () => {
    await pauseEndpoint(service.sql, partner.id)
    const [first = '', second = '', canceled = ''] = await settled(3)
    expect(await statuses([first])).toEqual({ 200: 1, 429: 0 })
    expect(await statuses([second, canceled])).toEqual({ 200: 2, 429: 0 })
    await service.sql
      .updateTable('deliveries')
      .set({ state: 'canceled' })
      .where('event_id', '=', canceled)
      .execute()
    expect([await waiting(), arrived()]).toEqual([3, []])
    await resumeEndpoint(service.sql, partner.id)
    await until(async () => (await waiting()) === 0)
    expect(arrived()).toEqual([first, second])
  })

  it('are asked of their workflow with an argument of the service only', async () => {
    const update = (asked: unknown) => handle().executeUpdate('resend', { args: [asked] })
    expect(await statuses(await settled(1))).toEqual({ 200: 1, 429: 0 })
    for (const asked of [undefined, {}, [null], [{ leadId: 1 }], [{ leadId: '1', sequence: 1 }]])
      await expect(update(asked)).rejects.toThrow('Workflow Update failed')
  })

  const handle = () => service.client.workflow.getHandle(`resend-${partner.id}`)
  const waiting = async () => (await handle().query<Resends>('progress')).waiting.length
})
