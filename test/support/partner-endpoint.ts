import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { atEnd } from './at-end.ts'
import { listen } from './listen.ts'

export interface Arrival {
  /** When it came, in milliseconds. */
  at: number
  id: string
  timestamp: number
  signature: string
  /** The header `webhook-replay`, `undefined` when there is none. */
  replay: string | undefined
  body: string
  /** Whether the public library accepts the signature with the endpoint's secret, which may have come after it. */
  readonly verified: boolean
  event: {
    type: string
    timestamp: string
    data: {
      event_id: string
      event_name: string
      event_payload: Record<string, unknown> | null
      created_at: string
      lead_id: number
      partner_lead_id: string | null
      sequence: number
      environment: string
    }
  }
}

type Answer = (arrival: Arrival, response: ServerResponse) => void

/** A partner's endpoint: a real HTTP server that verifies what arrives and answers as `answer` says. */
export async function startPartnerEndpoint() {
  const arrivals: Arrival[] = []
  const waiting = new Set<() => void>()
  const endpoint = {
    url: '',
    secret: '',
    arrivals,
    answer: ((_, response) => void response.writeHead(200).end()) as Answer,
    /** Resolves as soon as `enough` is true of what has arrived. */
    async until(enough: (arrivals: Arrival[]) => boolean): Promise<Arrival[]> {
      while (!enough(arrivals)) await new Promise<void>((resolve) => waiting.add(resolve))
      return arrivals
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
    /** Listens again, where it did before `close`. */
    open: () =>
      new Promise<void>((resolve) => server.listen(Number(new URL(endpoint.url).port), '127.0.0.1', resolve)),
  }
  const server = createServer((request, response) => {
    void receive(request, () => endpoint.secret).then(
      (arrival) => {
        arrivals.push(arrival)
        for (const resolve of waiting) resolve()
        waiting.clear()
        endpoint.answer(arrival, response)
      },
      (error: unknown) => {
        // one that was cut off has not arrived
        if (request.complete) throw error
      },
    )
  })
  endpoint.url = `http://127.0.0.1:${await listen(server)}/webhooks`
  atEnd(endpoint.close)
  return endpoint
}

export type PartnerEndpoint = Awaited<ReturnType<typeof startPartnerEndpoint>>

async function receive(request: IncomingMessage, secret: () => string): Promise<Arrival> {
  const body = await text(request)
  const header = (name: string) => String(request.headers[name])
  return {
    at: Date.now(),
    id: header('webhook-id'),
    timestamp: Number(header('webhook-timestamp')),
    signature: header('webhook-signature'),
    replay: request.headers['webhook-replay'] as string | undefined,
    body,
    get verified() {
      return isVerified(secret(), body, request.headers as Record<string, string>)
    },
    event: JSON.parse(body) as Arrival['event'],
  }
}

/** Whether the public library accepts the signature of a body. */
function isVerified(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}

/** Whether this secret signed it, whatever time it was for the sender. */
export function isSignedWith(secret: string, { id, body, timestamp, signature }: Arrival): boolean {
  return signature.split(' ').includes(new Webhook(secret).sign(id, new Date(timestamp * 1000), body))
}
