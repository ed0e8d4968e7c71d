import { setTimeout as delay } from 'node:timers/promises'
import type { Evidence, LeadJournal, View } from './evidence.ts'
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
  ask: PartnerApi['until'],
  partner: ChaosPartner,
  leadId: number | null,
): Promise<View | undefined> {
  const lead = await ask(partner, 'get-lead', { lead_id: leadId })
  const events = await ask(partner, 'get-events', { lead_id: leadId })
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
  const reads: Evidence['reads'] = []

  async function run(lead: LeadJournal): Promise<void> {
    await until(lead.atMs)
    const { owner, number, fields } = lead
    const create = () => api.until(owner, 'create-lead', fields, lead.key)
    const created = await create()
    if (created?.status !== 200) return
    lead.leadId = JSON.parse(created.body).lead_id
    lead.acknowledgedAt = performance.now()
    await Promise.all([describe(lead), sendAll(lead), ...(number % 5 === 0 ? [create()] : [])])
    await read(lead)
  }

  async function sendAll(lead: LeadJournal): Promise<void> {
    for (const [index, milestone] of lead.milestones.entries()) {
      await until(lead.atMs + milestone.atMs)
      await send(lead, milestone)
      if ((lead.number + index) % 4 === 0) await read(lead)
    }
  }

  async function describe(lead: LeadJournal): Promise<void> {
    if (Object.keys(lead.metadata).length === 0) return
    const body = { lead_id: lead.leadId, ...lead.metadata }
    const answer = await api.until(lead.owner, 'update-partner-info', body)
    if (answer?.status === 200) lead.describedAt = performance.now()
  }

  async function read({ owner, leadId }: LeadJournal): Promise<void> {
    const at = performance.now()
    const view = await readView(api.once, owner, leadId)
    if (view !== undefined) reads.push({ leadId: leadId ?? 0, at, view })
  }

  const leads = plan.map((planned): LeadJournal => ({
    ...planned,
    owner: partners[planned.partner % partners.length] as ChaosPartner,
    key: `lead-${planned.number}`,
    describedAt: null,
    leadId: null,
    acknowledgedAt: null,
    isLost: false,
    milestones: planned.milestones.map((each) => ({ ...each, acknowledgedAt: null, tries: 0, answers: [] })),
  }))
  return { leads, reads, done: Promise.all(leads.map(run)) }
}
