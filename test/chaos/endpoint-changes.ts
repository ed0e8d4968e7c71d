import { setTimeout as delay } from 'node:timers/promises'
import type { PartnerApi } from './partner-api.ts'
import type { ChaosPartner } from './partners.ts'

/** What the partners themselves do to their endpoints within `spanMs`. */
export function startEndpointChanges(
  partners: ChaosPartner[],
  api: PartnerApi,
  spanMs: number,
): Promise<unknown> {
  const began = performance.now()
  const until = (share: number) => delay(Math.max(0, began + share * spanMs - performance.now()))

  async function goAway({ endpoint }: ChaosPartner): Promise<void> {
    await until(0.3)
    await endpoint.close()
    await until(0.6)
    await endpoint.open()
  }

  async function pauseAndRotate(partner: ChaosPartner): Promise<void> {
    for (const share of [0.2, 0.6]) {
      await until(share)
      await api.until(partner, 'pause-endpoint', {})
      await until(share + 0.1)
      await api.until(partner, 'resume-endpoint', {})
      await until(share + 0.2)
      const rotated = await api.until(partner, 'rotate-endpoint-secret', {})
      const since = Date.now() / 1000
      if (rotated?.status === 200)
        partner.secrets.push({ secret: JSON.parse(rotated.body).data.secret, since })
    }
  }

  const nothing = async () => {}
  const changes = { steady: nothing, flaky: nothing, away: goAway, changing: pauseAndRotate }
  return Promise.all(partners.map((partner) => changes[partner.character](partner)))
}

/** After an outage, a partner resumes its endpoint: what failed starts its schedule anew. */
export async function resume(partner: ChaosPartner, api: PartnerApi): Promise<void> {
  for (const path of ['pause-endpoint', 'resume-endpoint']) await api.until(partner, path, {})
}
