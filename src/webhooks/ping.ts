import { v7 as newUuid } from 'uuid'
import type { AttemptOutcome } from '../deliveries/attempt-outcome.ts'
import type { PingOutcome } from '../endpoints/endpoint-state.ts'
import type { Environment } from '../values.ts'
import { PING_TYPE, serviceCallBody } from './body.ts'
import { signedHeaders } from './signature.ts'

interface Ping {
  url: string
  partnerId: number
  environment: Environment
  secrets: string[]
}

type Send = (request: {
  url: string
  headers: Record<string, string>
  body: string
}) => Promise<AttemptOutcome>

/** Sends one signed request of type `endpoint.ping`. */
export async function sendPing(to: Ping, send: Send): Promise<PingOutcome> {
  const { url, partnerId, environment, secrets } = to
  const id = `ping_${newUuid()}`
  const at = new Date()
  const body = serviceCallBody(PING_TYPE, at, { partner_id: partnerId, environment })
  const { ok, status, durationMs, errorCode, hint } = await send({
    url,
    body,
    headers: signedHeaders({ id, body, at, secrets }),
  })
  return { webhook_id: id, ok, status, duration_ms: durationMs, error_code: errorCode, hint }
}
