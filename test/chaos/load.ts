import { setTimeout as delay } from 'node:timers/promises'
import type { LeadJournal, Read, View } from './evidence.ts'
import type { PlannedLead } from './load-plan.ts'
import type { PartnerApi } from './partner-api.ts'
import type { ChaosPartner } from './partners.ts'
import type { createSender } from './senders.ts'

interface Dependencies {
  partners: ChaosPartner[]
  api: PartnerApi
  send: ReturnType<typeof createSender>
}

/** What get-lead and get-events answer; `undefined` unless both do. */
export async function readView(
  api: PartnerApi,
  { id: partnerId, key: apiKey }: Pick<ChaosPartner, 'id' | 'key'>,
  leadId: number,
  how: 'once' | 'until',
): Promise<View | undefined> {
  const read = (path: string) => api[how]({ partnerId, apiKey, path, body: { lead_id: leadId } })
  const lead = await read('get-lead')
  const events = await read('get-events')
  if (lead?.status !== 200 || events?.status !== 200) return undefined
  return { lead: JSON.parse(lead.body).data, events: JSON.parse(events.body).data }
}

/**
 * The load: leads at their dates, whatever becomes of earlier ones, and each one's milestones after it.
 *
 * @returns the journal, which fills; `done`, which resolves once everything is acknowledged.
 */
export function startLoad(plan: PlannedLead[], { partners, api, send }: Dependencies) {
  const began = performance.now()
  const until = (atMs: number) => delay(Math.max(0, began + atMs - performance.now()))
  const reads: Read[] = []
  const leads = plan.map(({ number, partner, fields, milestones }): LeadJournal => ({
    partnerId: partners[partner]?.id ?? 0,
    key: `lead-${number}`,
    fields,
    metadata: {},
    leadId: null,
    milestones: milestones.map(({ name, id, gains, way }) => ({
      name,
      ...(id !== undefined && { id }),
      ...(gains && { gains }),
      way,
      acknowledgedAt: null,
      tries: 0,
      answers: [],
    })),
  }))

  async function run(planned: PlannedLead, journal: LeadJournal): Promise<void> {
    await until(planned.atMs)
    const partner = partners[planned.partner]
    if (partner === undefined) return
    const { id: partnerId, key: apiKey } = partner
    const create = {
      partnerId,
      apiKey,
      path: 'create-lead',
      body: planned.fields,
      idempotencyKey: journal.key,
    }
    const created = await api.until(create)
    if (created?.status !== 200) return
    const leadId: number = JSON.parse(created.body).lead_id
    journal.leadId = leadId
    await Promise.all([
      describe(planned, journal, partner),
      ...(planned.number % 5 === 0 ? [api.until(create)] : []),
      sendAll(planned, journal, leadId),
    ])
    const view = await readView(api, partner, leadId, 'once')
    if (view !== undefined) reads.push({ leadId, view })
  }

  async function sendAll(planned: PlannedLead, journal: LeadJournal, leadId: number): Promise<void> {
    const partner = partners[planned.partner]
    for (const [index, milestone] of planned.milestones.entries()) {
      await until(planned.atMs + milestone.atMs)
      const sent = journal.milestones[index]
      if (sent !== undefined) await send(leadId, milestone, sent)
      if (partner === undefined || (planned.number + index) % 4 !== 0) continue
      const view = await readView(api, partner, leadId, 'once')
      if (view !== undefined) reads.push({ leadId, view })
    }
  }

  async function describe(planned: PlannedLead, journal: LeadJournal, partner: ChaosPartner): Promise<void> {
    if (Object.keys(planned.metadata).length === 0) return
    const { id: partnerId, key: apiKey } = partner
    const body = { lead_id: journal.leadId, ...planned.metadata }
    const answer = await api.until({ partnerId, apiKey, path: 'update-partner-info', body })
    if (answer?.status === 200) journal.metadata = planned.metadata
  }

  const work = plan.map((planned, index) => run(planned, leads[index] as LeadJournal))
  return { leads, reads, done: Promise.all(work) }
}
