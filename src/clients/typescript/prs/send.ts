import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Answer, AttemptOutcome } from '../../../core/deliveries/decisions/attempt-outcome.ts'
import { REQUEST_LIMIT_MS } from '../../../core/deliveries/decisions/delivery.ts'
import {
  type Diagnosis,
  diagnose,
  diagnosis,
  outcomeOf,
} from '../../../core/deliveries/webhooks/diagnosis.ts'
import { webhookHeaders } from '../../../core/deliveries/webhooks/headers.ts'
import { signatureOf } from '../src/signatures.ts'

interface Signing {
  id: string
  /** What is signed. */
  body: string
  at: Date
  /** One signature for each, in their order. */
  secrets: readonly string[]
}

/** The headers that the service sends, signed with other secrets than the endpoint’s. */
export async function signedHeaders({ id, body, at, secrets }: Signing): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signed = { id, timestamp, body: Buffer.from(body) }
  const signatures = await Promise.all(secrets.map((secret) => signatureOf(signed, secret)))
  return webhookHeaders({ id, at, signature: signatures.join(' ') })
}

interface WebhookRequest {
  url: string
  headers: Record<string, string>
  body: string
}

/** What a receiver may answer: more is not read. */
const MOST_BYTES = 64 * 1024

/** Makes one attempt as the service does, with its time limit. It never rejects: every error is an outcome. */
export async function send(webhook: WebhookRequest, signal?: AbortSignal): Promise<AttemptOutcome> {
  const began = performance.now()
  const limit = AbortSignal.timeout(REQUEST_LIMIT_MS)
  const answer: Answer = { status: null, responseHeaders: null, responseBody: null, retryAfter: null }
  let failure: Diagnosis | null = null
  try {
    await exchange(webhook, signal ? AbortSignal.any([signal, limit]) : limit, answer)
  } catch (error) {
    if (limit.aborted) failure = diagnosis('timeout')
    else failure = signal?.aborted ? diagnosis('canceled') : diagnose(error)
  }
  const durationMs = Math.round(performance.now() - began)
  return { ...outcomeOf(answer, failure), ...answer, address: null, durationMs }
}

/** Fills in `answer` as it arrives. A connection is used once: one that a receiver closes while it is idle never fails. */
function exchange(
  { url, headers, body }: WebhookRequest,
  signal: AbortSignal,
  answer: Answer,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body)
    const make = /^https:/i.test(url) ? httpsRequest : httpRequest
    const request = make(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': String(bytes.length) },
      agent: false,
      signal,
    })
    request.on('error', reject)
    request.on('response', (response) => void read(response, answer).then(resolve, reject))
    request.setNoDelay(true)
    request.end(bytes)
  })
}

async function read(response: IncomingMessage, answer: Answer): Promise<void> {
  const { statusCode = 0, headers } = response
  answer.status = statusCode
  answer.retryAfter = headers['retry-after'] ?? null
  answer.responseHeaders = headers.date === undefined ? {} : { date: headers.date }
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) break
  }
}
