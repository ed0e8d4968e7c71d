import { Agent, request } from 'node:http'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { atEnd } from '../support/at-end.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'
import { scrape } from '../support/scrape.ts'
import { until } from '../support/until.ts'
import { switchableProxy } from './switchable-proxy.ts'

describe('behind a balancer, an API process', () => {
  let service: Service
  let partner: TestPartner
  beforeAll(async () => {
    service = await prepareService({ METRICS_PORT: '0' })
    partner = await service.addPartner()
  })

  const probe = async (port: number | undefined, path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/${path}`)
    return `${answer.status} ${await answer.text()}`
  }
  /** A balancer's connections, which it keeps for its next requests. */
  function keepAlive(port: number | undefined) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    atEnd(async () => agent.destroy())
    return async () => {
      const asked = request({ agent, host: '127.0.0.1', port, path: '/v1/ping' })
      asked.end()
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      answer.resume()
      await once(answer, 'end')
      return { status: answer.statusCode, connection: answer.headers.connection }
    }
  }

  it('that gets SIGTERM is unready at once, and takes requests until the balancer has noticed', async () => {
    const api = await service.startApi({ DRAIN_SECONDS: '300' })
    const calls = partnerCalls(api.port, partner.key)
    const [first, second] = [keepAlive(api.port), keepAlive(api.port)]
    expect(await first()).toEqual({ status: 200, connection: 'keep-alive' })
    expect(await probe(api.metricsPort, 'readyz')).toBe('200 ready\n')
    process.kill(api.pid, 'SIGTERM')
    await until(async () => (await probe(api.metricsPort, 'readyz')) === '503 not ready: it is stopping\n')
    expect(await probe(api.metricsPort, 'healthz')).toBe('200 healthy\n')
    expect(await probe(api.metricsPort, 'livez')).toBe('200 live\n')
    // on the connection from before, on a new one, and what changes something
    expect(await first()).toEqual({ status: 200, connection: 'close' })
    expect(await second()).toEqual({ status: 200, connection: 'close' })
    expect(await calls.createLead()).toBeGreaterThan(0)
    // who does not want to wait sends it again
    expect(await api.stop()).toBe(0)
  })

  it('loses no request of those who keep their connections or open new ones until its port refuses', async () => {
    const api = await service.startApi({ DRAIN_SECONDS: '1' })
    const agent = new Agent({ keepAlive: true })
    atEnd(async () => agent.destroy())
    const created = service.sql.selectFrom('leads').select('id').where('partner_id', '=', partner.id)
    const { length: before } = await created.execute()
    const createLead = async (isNew: boolean) => {
      const asked = request({
        agent: isNew ? false : agent,
        host: '127.0.0.1',
        port: api.port,
        path: '/v1/create-lead',
        method: 'POST',
        headers: { authorization: `Service-Key ${partner.key}`, 'content-type': 'application/json' },
      })
      asked.end('{"first_name":"Ada","last_name":"Miller","email":"ada@example.com","phone":"+1 555-0100"}')
      try {
        const [answer] = (await once(asked, 'response')) as [IncomingMessage]
        return JSON.parse(await text(answer)).success ? 'created' : `${answer.statusCode}`
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        // the kernel took a connection that the process never saw, because its port was just closing
        return code === 'ECONNRESET' && !asked.reusedSocket ? 'not taken' : code
      }
    }
    let answered = 0
    // each sends its next request when the one before is answered, so a busy machine is asked for less
    const sender = async (isNew: boolean) => {
      for (;;) {
        const outcome = await createLead(isNew)
        if (outcome === 'created') answered += 1
        else if (outcome !== 'not taken') return outcome
      }
    }
    const asking = Array.from({ length: 12 }, (_, index) => sender(index % 3 > 0))
    await until(async () => answered > 100)
    const ended = api.stop()
    expect(new Set(await Promise.all(asking))).toEqual(new Set(['ECONNREFUSED']))
    expect(await ended).toBe(0)
    // whatever was carried out was answered
    expect(await created.execute()).toHaveLength(before + answered)
  })

  it('ends by itself when it has drained', async () => {
    const api = await service.startApi({ DRAIN_SECONDS: '1' })
    const begun = performance.now()
    expect(await api.stop()).toBe(0)
    expect(performance.now() - begun).toBeGreaterThan(1000)
  })

  it('stays ready while PostgreSQL is away, answers 503 itself, and tells others that it is away', async () => {
    const proxy = await switchableProxy(new URL(service.environment.DATABASE_URL))
    atEnd(() => proxy.close())
    const api = await service.startApi({ DATABASE_URL: proxy.url })
    const up = async () => (await scrape(api)).value('referrals_api_database_up')
    const get = () =>
      fetch(`http://127.0.0.1:${api.port}/v1/get-lead`, {
        method: 'POST',
        headers: { authorization: `Service-Key ${partner.key}`, 'content-type': 'application/json' },
        body: '{"lead_id":1}',
      })
    expect([await probe(api.metricsPort, 'readyz'), await up()]).toEqual(['200 ready\n', 1])
    await proxy.goAway()
    expect(await probe(api.metricsPort, 'healthz')).toBe('503 not healthy: PostgreSQL does not answer\n')
    expect([await probe(api.metricsPort, 'readyz'), await up()]).toEqual(['200 ready\n', 0])
    const answer = await get()
    expect([answer.status, Number(answer.headers.get('retry-after')) >= 1]).toEqual([503, true])
    expect(await answer.json()).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } })
    await proxy.comeBack()
    expect(await probe(api.metricsPort, 'healthz')).toBe('200 healthy\n')
    expect(await up()).toBe(1)
  })
})
