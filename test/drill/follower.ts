import { setTimeout as delay } from 'node:timers/promises'
import type { Stack } from './stack.ts'

const PAUSE_MS = 200

/** A partner that follows list-events from the beginning, and goes on where an error tells it to. */
export function startFollower({ call }: Stack) {
  /** How often each event came, by its id. */
  const seen = new Map<string, number>()
  const advice: string[] = []
  const stopping = new AbortController()
  let after: string | undefined

  async function poll(): Promise<void> {
    const { status, body } = await call('list-events', { ...(after && { after }), limit: 100, wait: 1 })
    if (status === 200) {
      for (const { event_id: id } of body.data as { event_id: string }[])
        seen.set(id, (seen.get(id) ?? 0) + 1)
      after = String(body.next)
      return
    }
    if (status === 400) {
      const { message, next } = body.error as { message: string; next?: string }
      advice.push(message)
      after = next ?? after
    }
    await delay(PAUSE_MS)
  }

  const following = (async () => {
    while (!stopping.signal.aborted) await poll().catch(() => delay(PAUSE_MS))
  })()
  return {
    seen,
    /** What it was told when a cursor was refused. */
    advice,
    stop: async () => {
      stopping.abort()
      await following
    },
  }
}

export type Follower = ReturnType<typeof startFollower>
