import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { pauseEndpoint } from '../support/endpoint-states.ts'
import { until } from '../support/until.ts'
import { type Api, type ApiPartner, prepareApi, sandboxWithoutTemporal } from '../support/api.ts'

interface Arrival {
  webhook_id: string
  verified: boolean
  status: number
  headers: Record<string, string>
  body: string
  event: unknown
}

describe('what arrives at a sink', () => {
  let api: Api
  let partner: ApiPartner
  let path: string
  let secret: string

  beforeAll(async () => {
    api = await prepareApi()
    await api.app.listen({ host: '127.0.0.1', port: 0 })
  })
  beforeEach(async () => {
    partner = await api.addPartner()
    const { body } = await partner.post('sandbox/use-sink', {})
    path = new URL(body.data.url).pathname
    ;({ secret } = (await partner.post('rotate-endpoint-secret', {})).body.data)
  })

  const arrive = (payload: string | Buffer, headers: Record<string, string> = {}) =>
    api.send({ method: 'POST', url: path, headers, payload })
  const headersOf = (payload: string, id: string) => {
    const at = new Date()
    const signature = new Webhook(secret).sign(id, at, payload)
    const timestamp = String(Math.floor(at.getTime() / 1000))
    return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  }
  const signed = (payload: string, id = `evt_${randomBytes(4).toString('hex')}`) =>
    arrive(payload, headersOf(payload, id))
  async function kept(): Promise<Arrival[]> {
    const { status, body } = await partner.post('sandbox/get-sink', {})
    expect(status).toBe(200)
    return body.data.webhooks
  }

  it('is shown parsed only if its signature is valid', async () => {
    const deep = `${'['.repeat(8_000)}${']'.repeat(8_000)}`
    const forged = [deep, '{"type":"forged"}', '\0x', Buffer.from([0xff, 0xfe, 0x00])]
    for (const body of forged) expect((await arrive(body)).status).toBe(400)
    expect((await signed('{"type":"genuine"}')).status).toBe(200)
    const [genuine, ...others] = await kept()
    expect(genuine).toMatchObject({ verified: true, body: '{"type":"genuine"}', event: { type: 'genuine' } })
    expect(others.map(({ verified, status, event }) => [verified, status, event])).toEqual(
      forged.map(() => [false, 400, null]),
    )
    expect(others.map(({ body }) => body.length)).toEqual([3, 2, 17, 16_000])
  })

  it('is twenty requests at a time, and one whose sender hangs up makes room', async () => {
    await partner.post('sandbox/set-sink', { delay_ms: 20_000 })
    const { port } = api.app.server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}${path}`
    const hangUp = new AbortController()
    const held = Array.from({ length: 20 }, async () => {
      const headers = headersOf('{}', `evt_${randomBytes(4).toString('hex')}`)
      return fetch(url, { method: 'POST', headers, body: '{}', signal: hangUp.signal }).catch(() => undefined)
    })
    await until(async () => (await kept()).length === 20)
    expect((await signed('{}')).status).toBe(429)
    hangUp.abort()
    await Promise.all(held)
    await partner.post('sandbox/set-sink', {})
    await until(async () => (await signed('{}')).status === 200)
  })

  it('is answered as set-sink says, as often as it says, late, and with why', async () => {
    await partner.post('sandbox/set-sink', { status: 503, times: 2, delay_ms: 300 })
    const began = performance.now()
    const { status, body } = await signed('{}')
    expect(performance.now() - began).toBeGreaterThanOrEqual(299)
    const answer = 'Refused with 503, as set-sink told this sink.'
    expect([status, body]).toEqual([503, { success: false, verified: true, answer }])
    expect((await partner.post('sandbox/get-sink', {})).body.data).toMatchObject({ status: 503, times: 1 })
    expect([(await signed('{}')).status, (await signed('{}')).status]).toEqual([503, 200])
    const usual = { status: 200, times: null, delay_ms: 0 }
    expect((await partner.post('sandbox/get-sink', {})).body.data).toMatchObject(usual)
    expect((await kept()).map((each) => each.status)).toEqual([200, 503, 503])
  })

  it('is answered 200 again once use-sink is called again, which changes nothing else', async () => {
    const row = api.sql.selectFrom('endpoints').select('round').where('partner_id', '=', partner.id)
    const before = await row.executeTakeFirst()
    await partner.post('sandbox/set-sink', { status: 500 })
    await partner.post('sandbox/use-sink', {})
    expect(await row.executeTakeFirst()).toEqual(before)
    expect((await signed('{}')).status).toBe(200)
  })

  it('comes no more while staff paused the endpoint: asking for the sink again changes nothing', async () => {
    const read = api.sql.selectFrom('endpoints').select(['url', 'state']).where('partner_id', '=', partner.id)
    await pauseEndpoint(api.sql, partner.id)
    expect(await partner.post('sandbox/use-sink', {})).toMatchObject({
      status: 409,
      body: { error: { code: 'PAUSED_BY_STAFF' } },
    })
    expect(await read.executeTakeFirst()).toEqual({
      url: expect.stringContaining('/sinks/'),
      state: 'paused',
    })
  })

  it('is nothing in a sandbox without a sink', async () => {
    const without = await prepareApi({ sandbox: { ...sandboxWithoutTemporal, sinkBase: undefined } })
    const other = await without.addPartner()
    expect((await other.post('sandbox/use-sink', {})).status).toBe(404)
  })

  it('is the last hundred webhooks', async () => {
    for (let index = 0; index < 105; index += 1) await signed(JSON.stringify({ index }))
    const arrived = await kept()
    expect(arrived.map(({ event }) => event)).toEqual(
      Array.from({ length: 100 }, (_, index) => ({ index: 104 - index })),
    )
  })

  it('is shown even if it is signed but no webhook, and refused beyond 16 KiB', async () => {
    const deep = `${'['.repeat(8_000)}${']'.repeat(8_000)}`
    expect((await signed(deep)).status).toBe(200)
    expect((await signed('no JSON')).status).toBe(200)
    expect((await signed(JSON.stringify('x'.repeat(20_000)))).status).toBe(413)
    expect(await kept()).toMatchObject([
      { verified: true, body: 'no JSON', event: null },
      { verified: true, body: deep, event: null },
    ])
  })

  it.each([{ fault: 'explodes' }, { status: 199 }, { status: 600 }, { delay_ms: 20_001 }, { times: 0 }])(
    'is not answered as %j says',
    async (body) => {
      expect((await partner.post('sandbox/set-sink', body)).status).toBe(400)
    },
  )

  it('is shown to no other partner, and there is none before the sink is made', async () => {
    const other = await api.addPartner()
    expect((await other.post('sandbox/get-sink', {})).status).toBe(409)
    expect((await other.post('sandbox/set-sink', { status: 500 })).status).toBe(409)
    for (const token of ['none', '0'.repeat(32), '%00', 'x'.repeat(101), 'x'.repeat(10_000)]) {
      const unknown = await api.send({ method: 'POST', url: `/v1/sandbox/sinks/${token}`, payload: '{}' })
      expect([unknown.status, unknown.body.error.code]).toEqual([404, 'NOT_FOUND'])
    }
  })
})
