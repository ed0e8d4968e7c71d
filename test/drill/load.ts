import { setTimeout as delay } from 'node:timers/promises'
import { createReferrals } from '../../src/core/leads/workflows/referrals.ts'
import type { SignalledMilestone } from '../../src/core/leads/decisions/milestones.ts'
import type { Stack } from './stack.ts'

/** Somebody whom the partner refers, with every answer that it got: the same lead again and again, unless that was lost. */
export interface Borrower {
  key: string
  fields: Record<string, string>
  /** When its create-lead was first sent. */
  sentAt: number
  acks: { leadId: number; at: number }[]
}

/** A milestone that Temporal took, `recorded` if the answer said so. */
export interface Sent {
  leadId: number
  name: SignalledMilestone
  /** Under which the record knows it. */
  dedupeKey: string
  at: number
  recorded: boolean
}

export interface Journal {
  borrowers: Borrower[]
  milestones: Sent[]
  travellers: Map<number, Traveller>
  /** Leads that a restore lost. */
  lost: Set<number>
  /** Answers of the API other than 200, and 503 while something is away. */
  unexpected: string[]
}

/** A lead as those who send its milestones know it. */
interface Traveller {
  leadId: number
  step: number
  busy: boolean
  /** The record does not know it any more. */
  gone: boolean
}

const LEADS_PER_SECOND = 6
const MILESTONES_PER_SECOND = 8
const PAUSE_MS = 200
const CALL_LIMIT_MS = 3000
const GAINS = {
  experian_gain: 12,
  equifax_gain: 8,
  transunion_gain: 10,
  estimated_time_remaining: '30-60 days',
}
const ONCE: SignalledMilestone[] = [
  'client_account_created',
  'credit_scan_completed',
  'contract_signed',
  'escrow_funded',
]
/** After those that happen once. */
const REPEATING: SignalledMilestone[] = ['score_update', 'client_engaged_in_chat']

export const emptyJournal = (): Journal => ({
  borrowers: [],
  milestones: [],
  travellers: new Map(),
  lost: new Set(),
  unexpected: [],
})

/** A partner that refers borrowers and staff that send milestones, both until they are told that it arrived. */
export function startLoad({ call, service }: Stack, journal: Journal) {
  const referrals = createReferrals({ ...service, callLimitMs: CALL_LIMIT_MS })
  const { travellers } = journal
  const underWay = new Set<Promise<unknown>>()
  const stopping = new AbortController()
  const { signal } = stopping

  /** Sends the create-lead of a borrower until it is answered with 200. */
  async function create(borrower: Borrower): Promise<void> {
    for (;;) {
      const answer = await call('create-lead', borrower.fields, { 'idempotency-key': borrower.key }).catch(
        () => undefined,
      )
      if (answer?.status === 200) {
        const leadId = Number(answer.body.lead_id)
        borrower.acks.push({ leadId, at: Date.now() })
        travellers.set(leadId, { leadId, step: 0, busy: false, gone: false, ...travellers.get(leadId) })
        return
      }
      if (answer !== undefined && answer.status !== 503)
        journal.unexpected.push(`create-lead answered ${answer.status} ${JSON.stringify(answer.body)}`)
      await delay(PAUSE_MS)
    }
  }

  function refer(): Promise<void> {
    const number = journal.borrowers.length + 1
    const fields = {
      first_name: `Ada${number}`,
      last_name: 'Miller',
      email: `ada${number}@example.com`,
      phone: '+1 555-0100',
      partner_lead_id: `LOAN-${number}`,
    }
    const borrower: Borrower = { key: `refer-${number}`, fields, sentAt: Date.now(), acks: [] }
    journal.borrowers.push(borrower)
    return create(borrower)
  }

  /** Sends a milestone until Temporal has it. False when there is no such lead. */
  async function send(leadId: number, name: SignalledMilestone, id?: string): Promise<boolean> {
    const argument = { ...(id && { id }), ...(name === 'score_update' && { event_payload: GAINS }) }
    const isAsked = Math.random() < 0.5
    for (;;) {
      try {
        const answer = isAsked
          ? await referrals.record(leadId, { name, ...argument })
          : await referrals.signal(leadId, name, argument)
        if (answer === false) return false
        const recorded = typeof answer === 'object' && /^(recorded|repeated)$/.test(answer.outcome)
        const dedupeKey = id === undefined ? name : `${name}:${id}`
        journal.milestones.push({ leadId, name, dedupeKey, at: Date.now(), recorded })
        return true
      } catch {
        if (signal.aborted) return true
        await delay(PAUSE_MS)
      }
    }
  }

  async function travel(): Promise<void> {
    const free = [...travellers.values()].filter(({ busy, gone }) => !busy && !gone)
    const one = free[Math.floor(Math.random() * free.length)]
    if (one === undefined) return
    one.busy = true
    const name = ONCE[one.step] ?? REPEATING[one.step % REPEATING.length] ?? 'score_update'
    const id = one.step < ONCE.length ? undefined : String(one.step)
    one.gone = !(await send(one.leadId, name, id))
    one.step += 1
    one.busy = false
  }

  async function each(perSecond: number, start: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      const work = start().finally(() => underWay.delete(work))
      underWay.add(work)
      await delay(1000 / perSecond, undefined, { signal }).catch(() => undefined)
    }
  }

  const pacing = [each(LEADS_PER_SECOND, refer), each(MILESTONES_PER_SECOND, travel)]
  return {
    journal,
    create,
    send,
    /** Ends the load; what is under way is sent to its end. */
    stop: async () => {
      stopping.abort()
      await Promise.all([...pacing, ...underWay])
    },
  }
}

export type Load = ReturnType<typeof startLoad>
