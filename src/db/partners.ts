import { Endpoint } from './entities/endpoint.ts'
import { Partner } from './entities/partner.ts'
import type { Em } from './orm.ts'

/** Adds a partner with its endpoint, which waits for a URL: until then deliveries wait too. */
export async function addPartner(
  em: Em,
  { name, contactEmail }: { name: string; contactEmail?: string },
): Promise<{ id: number }> {
  const partner = em.create(Partner, { name, contactEmail: contactEmail ?? null, createdAt: new Date() })
  em.create(Endpoint, { partner, state: 'paused', reason: 'no_endpoint', since: new Date() })
  await em.flush()
  return { id: partner.id }
}
