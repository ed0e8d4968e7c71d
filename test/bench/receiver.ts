import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

interface Arrival {
  body: string
  headers: IncomingHttpHeaders
}

/** A partner's endpoint that answers at once, and verifies later than it answers. */
export async function startReceiver() {
  const arrivals: Arrival[] = []
  const reached = new Map<number, number>()
  let verified = 0
  const receiver = {
    url: '',
    /** Called with the lead's id when a webhook of it is there. */
    onArrival: (_leadId: number): void => undefined,
    verifyNew,
    verifyAll,
    close: () => server.close().closeAllConnections(),
  }
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      arrivals.push({ body, headers: request.headers })
      response.writeHead(200).end()
      receiver.onArrival(Number(/"lead_id":(\d+)/.exec(body)?.[1]))
    })
  })

  /** Looks at those that came since it last did. */
  function verifyNew(secret: string): void {
    const verifier = new Webhook(secret)
    for (const { body, headers } of arrivals.slice(verified)) {
      verifier.verify(body, headers as Record<string, string>)
      const { lead_id: lead, sequence } = (JSON.parse(body) as Sent).data
      const before = reached.get(lead) ?? 0
      if (sequence !== before + 1) throw new Error(`lead ${lead}: webhook ${sequence} came after ${before}`)
      reached.set(lead, sequence)
    }
    verified = arrivals.length
  }

  /**
   * A signature is good for five minutes: call it as often.
   * @throws {Error} unless each of `expected` webhooks came once, signed, and in its lead's order.
   */
  function verifyAll(secret: string, expected: number): void {
    verifyNew(secret)
    if (verified !== expected) throw new Error(`${verified} webhooks came, not ${expected}`)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
  return receiver
}

interface Sent {
  data: { lead_id: number; sequence: number }
}
