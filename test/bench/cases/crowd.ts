import { setEndpoint } from '../../../src/endpoints/switch-endpoint.ts'
import { addPartner } from '../../../src/partners/partner.ts'
import { sealing } from '../../../src/seal.ts'
import { forEachInFlight } from '../../../src/temporal/in-flight.ts'
import { putEndpoints } from '../../support/endpoint-states.ts'
import type { Given, Sides } from './milestone-sides.ts'

/** A second partner, with many leads of which something is wanted at once. */
export async function addCrowd({ deployment, url, addLead, expect, onArrival }: Sides, size: number) {
  const { sql, orm, encryptionKeys, secret } = deployment
  const { id } = await addPartner(orm.em.fork(), { name: 'Second Lender' })
  await setEndpoint(sql, id, { url, secret: sealing(secret, encryptionKeys) })
  await putEndpoints(sql, 'active', { partnerId: id })
  const leads = new Set<number>()
  let wanted = 0
  let arrived = 0
  let all = Promise.withResolvers<void>()
  /** Of leads that are not known yet. */
  const early = new Map<number, number>()
  const count = (more: number) => {
    arrived += more
    if (arrived === wanted) all.resolve()
  }
  onArrival((leadId) => {
    if (leads.has(leadId)) count(1)
    else early.set(leadId, (early.get(leadId) ?? 0) + 1)
  })
  const add = (leadId: number) => {
    leads.add(leadId)
    count(early.get(leadId) ?? 0)
  }
  const nextWebhook = () => {
    wanted += size
    expect(size)
    all = Promise.withResolvers()
    return all.promise
  }
  return {
    /** Resolves once the workflows of all have sent their first webhook. */
    async begin(given?: Given) {
      const sent = nextWebhook()
      await forEachLead(Array.from({ length: size }), async () => add(await addLead(id, given)))
      await sent
    },
    forEachLead: (work: (leadId: number) => Promise<unknown>) => forEachLead(leads, work),
    /** Resolves once each lead has sent one webhook more than before. */
    nextWebhook,
  }
}

async function forEachLead<Item>(items: Iterable<Item>, work: (item: Item) => Promise<unknown>) {
  const [failed] = await forEachInFlight(items, work)
  if (failed !== undefined) throw failed.error
}
