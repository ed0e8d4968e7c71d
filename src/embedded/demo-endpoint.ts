import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { problemOf } from '../core/deliveries/webhooks/verify.ts'

interface DemoEndpointOptions {
  port: number
  /** The endpoint's secret, `whsec_…`; undefined until the partner has one. */
  secret: () => string | undefined
  /** Reads the secrets of an endpoint at this URL: a partner may have replaced its own. */
  otherSecrets: (url: string) => Promise<string[]>
  /** Gets one readable line for each webhook. */
  print: (line: string) => void
  /** Gets each webhook in full, as one JSON document on a line. */
  logFile: string
}

/** What a partner would run: receives webhooks on 127.0.0.1 and verifies them as Standard Webhooks specifies. */
export async function startDemoEndpoint({ port, secret, otherSecrets, print, logFile }: DemoEndpointOptions) {
  const server = createServer((request, response) => {
    const answer = async () => {
      const { problem, body, headers } = await receive(request, secret(), () => otherSecrets(url))
      appendFileSync(logFile, `${JSON.stringify({ at: new Date(), problem, headers, body })}\n`)
      print(describe(body, problem))
      response.writeHead(problem ? 400 : 200).end()
    }
    // a sender that hangs up halfway has sent no webhook
    answer().catch(() => response.destroy())
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const { port: listening } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${listening}/webhooks`
  return { url, server }
}

async function receive(request: IncomingMessage, secret = '', otherSecrets: () => Promise<string[]>) {
  // the signature is over the bytes as they came: parsed and serialized again, they would differ
  const body = await text(request)
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name] ?? '')]))
  const problem = problemOf([secret], body, headers)
  const isValid = problem === undefined || problemOf(await otherSecrets(), body, headers) === undefined
  return { body, headers, ...(!isValid && { problem }) }
}

function describe(body: string, problem: string | undefined): string {
  const time = new Date().toTimeString().slice(0, 8)
  const { type, data } = parse(body)
  const verdict = problem ? `not verified: ${problem}` : 'verified ✓'
  const lead =
    data?.lead_id === undefined ? '' : `lead ${printable(data.lead_id)}  #${printable(data.sequence)}  `
  return `${time}  ${printable(type).padEnd(22)}  ${lead}${verdict}`
}

/** Any program on this machine can send anything here, including control sequences for the terminal. */
function printable(value: unknown): string {
  const isPlain = typeof value === 'number' || (typeof value === 'string' && /^[\w.]{1,40}$/.test(value))
  return isPlain ? String(value) : '?'
}

/** The part of a webhook's body that is printed. */
function parse(body: string): { type?: unknown; data?: { lead_id?: unknown; sequence?: unknown } | null } {
  try {
    return (JSON.parse(body) as object | null) ?? {}
  } catch {
    return {}
  }
}
