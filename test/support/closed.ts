import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** Of whoever wants an answer after all. */
const LIMIT_MS = 5000

/** Resolves once the sender has closed its connection without an answer. */
export async function closed(response: ServerResponse): Promise<void> {
  if (!response.destroyed) await Promise.race([once(response, 'close'), delay(LIMIT_MS)])
}
