import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Referrals, type ReferralsOptions } from '../../src/clients/typescript/src/index.ts'
import { atEnd } from '../support/at-end.ts'

export interface ApiRequest {
  path: string
  key: string | undefined
  body: unknown
}

type Step = (request: IncomingMessage, response: ServerResponse) => void

/** An API that answers each request with the next step of a script, and the last one from then on. */
export async function scriptedApi(...steps: [Step, ...Step[]]) {
  const requests: ApiRequest[] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const { url = '', headers } = request
      requests.push({ path: url, key: headers['idempotency-key'] as string | undefined, body })
      for (const resolve of waiting) resolve()
      const step = steps[Math.min(requests.length, steps.length) - 1]
      step?.(request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const baseUrl = `http://127.0.0.1:${port}/v1`
  return {
    port,
    requests,
    client: (options: Partial<ReferralsOptions> = {}) =>
      new Referrals({ apiKey: 'prs_test_1', baseUrl, ...options }),
    async until(count: number): Promise<void> {
      while (requests.length < count) await new Promise<void>((resolve) => waiting.add(resolve))
    },
  }
}

export const answers = (status: number, body: unknown, headers: Record<string, string> = {}): Step => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return (_, response) => void response.writeHead(status, headers).end(text)
}

export const failure = (code: string, more: object = {}) => ({
  success: false,
  error: { code, message: `It is ${code}.`, ...more },
})

export const dropped: Step = (request) => void request.socket.destroy()
export const silent: Step = () => {}
