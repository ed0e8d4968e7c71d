import type { Endpoint } from './api.ts'
import { NoAnswerError } from './errors.ts'
import { type CallOptions, pause } from './transport.ts'

type Ask = (options: CallOptions) => Promise<Endpoint>

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

/**
 * Begins a certification, and asks for it until it has ended.
 *
 * @throws {NoAnswerError} if it has not at the deadline, which is for all of this.
 */
export async function certified(
  begin: Ask,
  get: Ask,
  { deadlineMs, signal, ...options }: CallOptions & { deadlineMs: number },
): Promise<Endpoint> {
  const ends = Date.now() + deadlineMs
  const left = () => ({ ...options, ...(signal && { signal }), deadlineMs: Math.max(1, ends - Date.now()) })
  let endpoint = await begin(left())
  for (let pauseMs = FIRST_PAUSE_MS; endpoint.certification?.state === 'running'; pauseMs *= 2) {
    const waitMs = Math.min(pauseMs, LONGEST_PAUSE_MS)
    if (Date.now() + waitMs > ends)
      throw new NoAnswerError(
        `the certification has not ended within ${deadlineMs} ms: endpoint.get shows it`,
      )
    await pause(waitMs, signal)
    endpoint = await get(left())
  }
  return endpoint
}
