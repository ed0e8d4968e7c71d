import { beforeEach, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { startDemoEndpoint } from '../../src/embedded/demo-endpoint.ts'
import { atEnd } from '../support/at-end.ts'

const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
const body = JSON.stringify({ type: 'contract_signed', data: { lead_id: 7, sequence: 2 } })
/** A secret that the partner has rotated to. */
const replaced = `whsec_${Buffer.alloc(24, 3).toString('base64')}`
let url: string
let lines: string[]

beforeEach(async () => {
  lines = []
  const endpoint = await startDemoEndpoint({
    port: 0,
    secretsOf: async (itsUrl) => (itsUrl === url ? [secret, replaced] : []),
    print: (line) => lines.push(line),
  })
  url = endpoint.url
  atEnd(async () => {
    endpoint.server.closeAllConnections()
    endpoint.server.close()
  })
})

async function send(text: string, signedWith = secret): Promise<number> {
  const at = new Date()
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(signedWith).sign('evt_1', at, text),
  }
  return (await fetch(url, { method: 'POST', headers, body: text })).status
}

test.each([secret, replaced])('verifies a webhook, answers 200 and prints it on one line', async (its) => {
  expect(await send(body, its)).toBe(200)
  const line = /^\d\d:\d\d:\d\d {2}contract_signed +lead 7 {2}#2 {2}verified ✓$/
  expect(lines).toEqual([expect.stringMatching(line)])
})

test('answers 400 to a forged one and says why', async () => {
  expect(await send(body, `whsec_${Buffer.alloc(24, 2).toString('base64')}`)).toBe(400)
  expect(lines).toEqual([expect.stringMatching(/lead 7 {2}#2 {2}not verified: \S/)])
})

test('goes on after a request that is no webhook', async () => {
  expect((await fetch(url)).status).toBe(400)
  expect(await send('null')).toBe(200)
  expect(await send(body)).toBe(200)
  expect(lines).toHaveLength(3)
})
