import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { atEnd } from './at-end.ts'

const GAINS = {
  experian_gain: 1,
  equifax_gain: 2,
  transunion_gain: 3,
  estimated_time_remaining: '30-60 days',
}

/** A score provider that keeps what it is asked, and answers once `answering` is resolved. */
export async function startScoreServer() {
  const asked: { lead_id: number; period: number; at: number }[] = []
  const provider = { url: '', asked, answering: Promise.resolve() }
  const server = createServer((request, response) => {
    void json(request).then(async (question) => {
      asked.push({ ...(question as { lead_id: number; period: number }), at: Date.now() })
      await provider.answering
      response.writeHead(200).end(JSON.stringify(GAINS))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  atEnd(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return provider
}
