import { setTimeout as delay } from 'node:timers/promises'
import type { Feed } from './evidence.ts'
import type { Ask } from './partner-api.ts'
import type { ChaosPartner } from './partners.ts'

const PAUSE_MS = 500

/**
 * Partners that follow list-events from the beginning.
 *
 * @returns their journals, which fill; `end`, which resolves once each has read all that there is.
 */
export function followEvents(partners: ChaosPartner[], ask: Ask) {
  const stopping = new AbortController()

  async function follow(partner: ChaosPartner, feed: Feed): Promise<void> {
    let after: string | undefined
    for (;;) {
      const isLast = stopping.signal.aborted
      const call = await ask(partner, 'list-events', { after, limit: 100 })
      if (call === undefined) return
      const { data = [], next, error } = JSON.parse(call.body)
      if (call.status !== 200) feed.refusals.push(call.body)
      for (const { event_id: id } of data) feed.events.push(id)
      after = next ?? error?.next ?? after
      if (data.length > 0) continue
      if (isLast && call.status === 200) return
      await delay(PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  const feeds = partners.map(({ id }): Feed => ({ partnerId: id, events: [], refusals: [] }))
  const following = Promise.all(partners.map((partner, index) => follow(partner, feeds[index] as Feed)))
  const end = async () => {
    stopping.abort()
    await following
  }
  return { feeds, end }
}
