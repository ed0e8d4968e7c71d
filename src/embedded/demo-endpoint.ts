import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { problemOf } from '../webhooks/signature.ts'

interface DemoEndpointOptions {
  port: number
  /** Reads the secrets of every endpoint at this URL: a partner may have replaced its own. */
  secretsOf: (url: string) => Promise<string[]>
  /** Gets one readable line for each webhook. */
  print: (line: string) => void
}

/** What a partner would run: receives webhooks on 127.0.0.1 and verifies them as Standard Webhooks specifies. */
export async function startDemoEndpoint({ port, secretsOf, print }: DemoEndpointOptions) {
  const server = createServer((request, response) => {
    const answer = ({ problem, body }: Awaited<ReturnType<typeof receive>>) => {
      print(describe(body, problem))
      response.writeHead(problem ? 400 : 200).end()
    }
    // a sender that hangs up halfway has sent no webhook
    receive(request, () => secretsOf(url)).then(answer, () => response.destroy())
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
  return { url, server }
}

async function receive(request: IncomingMessage, secrets: () => Promise<string[]>) {
  // the signature is over the bytes as they came: parsed and serialized again, they would differ
  const body = await text(request)
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name] ?? '')]))
  return { body, problem: problemOf(await secrets(), body, headers) }
}

/** Any program on this machine can send anything here: only what cannot be a control sequence is printed. */
function describe(body: string, problem: string | undefined): string {
  const time = new Date().toTimeString().slice(0, 8)
  const [, type = '?'] = /^\{"type":"([\w.]{1,40})"/.exec(body) ?? []
  const [, lead] = /"lead_id":(\d{1,10})\b/.exec(body) ?? []
  const [, sequence = '?'] = /"sequence":(\d{1,10})\b/.exec(body) ?? []
  const verdict = problem ? `not verified: ${problem}` : 'verified ✓'
  return `${time}  ${type.padEnd(22)}  ${lead ? `lead ${lead}  #${sequence}  ` : ''}${verdict}`
}
