import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { Evidence, LeadJournal, SentMilestone, View } from './evidence.ts'
import { factOf, type PlannedLead } from './load-plan.ts'
import { type Ask, pauseAfter } from './partner-api.ts'
import type { ChaosPartner } from './partners.ts'

/** How long a call of Temporal may take. */
const LIMIT_MS = 8000

interface Dependencies {
  partners: ChaosPartner[]
  ask: Ask
  client: Client
  /** Ends all that is still being tried. */
  signal: AbortSignal
}

/** What get-lead and get-events answer; `undefined` unless both do. */
export async function readView(ask: Ask, { owner, leadId }: LeadJournal): Promise<View | undefined> {
  const lead = await ask(owner, 'get-lead', { lead_id: leadId })
  const events = await ask(owner, 'get-events', { lead_id: leadId })
  if (lead?.status !== 200 || events?.status !== 200) return undefined
  return { lead: JSON.parse(lead.body).data, events: JSON.parse(events.body).data }
}

/**
 * The load: leads at their dates, whatever becomes of earlier ones, and each one's milestones after it, as signals, and as
 * updates, which are acknowledged once they are recorded. Each is repeated until it is acknowledged.
 *
 * @returns the journal, which fills; `done`, which resolves once everything is acknowledged.
 */
export function startLoad(plan: PlannedLead[], { partners, ask, client, signal }: Dependencies) {
  const began = performance.now()
  const until = (atMs: number) => delay(Math.max(0, began + atMs - performance.now()))
  const reads: Evidence['reads'] = []

  async function run(lead: LeadJournal): Promise<void> {
    await until(lead.atMs)
    const create = () => ask(lead.owner, 'create-lead', lead.fields, lead.key)
    const created = await create()
    if (created?.status !== 200) return
    lead.leadId = JSON.parse(created.body).lead_id
    lead.acknowledgedAt = performance.now()
    await Promise.all([sendAll(lead), ...(lead.number % 5 === 0 ? [create()] : [])])
    await read(lead)
  }

  async function sendAll(lead: LeadJournal): Promise<void> {
    for (const [index, milestone] of lead.milestones.entries()) {
      await until(lead.atMs + milestone.atMs)
      // Temporal answers two updates of the same id once
      const updateId = factOf(milestone)
      await send(lead, milestone, updateId)
      if (milestone.twice) await send(lead, milestone, `${updateId}-again`)
      if ((lead.number + index) % 4 === 0) await read(lead)
    }
  }

  async function send(lead: LeadJournal, sent: SentMilestone, updateId: string): Promise<void> {
    const { name, id, gains, way } = sent
    const handle = client.workflow.getHandle(`lead-${lead.leadId}`)
    const argument = { ...(id !== undefined && { id }), ...(gains && { event_payload: gains }) }
    for (let number = 1; !signal.aborted && !lead.isLost; number += 1) {
      sent.tries += 1
      try {
        await client.withDeadline(Date.now() + LIMIT_MS, async () => {
          if (way === 'signal') await handle.signal(name, argument)
          else await handle.executeUpdate('milestone', { args: [{ name, ...argument }], updateId })
        })
        sent.acknowledgedAt ??= performance.now()
        return
      } catch (error) {
        sent.lastError = String(error)
        await pauseAfter(number)
      }
    }
  }

  async function read(lead: LeadJournal): Promise<void> {
    const at = performance.now()
    const view = await readView(ask, lead)
    if (view !== undefined) reads.push({ leadId: lead.leadId ?? 0, at, view })
  }

  const leads = plan.map((planned): LeadJournal => ({
    ...planned,
    owner: partners[planned.number % partners.length] as ChaosPartner,
    key: `lead-${planned.number}`,
    leadId: null,
    acknowledgedAt: null,
    isLost: false,
    milestones: planned.milestones.map((each) => ({ ...each, acknowledgedAt: null, tries: 0 })),
  }))
  return { leads, reads, done: Promise.all(leads.map(run)) }
}
