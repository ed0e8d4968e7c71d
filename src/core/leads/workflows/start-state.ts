import type { Client } from '@temporalio/client'
import type { Carried } from '../../../../workflows/journey.ts'
import { recordedAmong } from '../statements/recorded-among.ts'
import { loadReferralState } from '../statements/referral-states.ts'
import type { Sql } from '../../database/orm.ts'
import type { ReferralState } from '../decisions/referral.ts'
import { referralId } from '../../temporal/names.ts'
import { type Unrecorded, unrecordedBefore } from './unrecorded.ts'

/** The arguments with which a lead’s workflow starts again. */
export interface StartState {
  state: ReferralState
  /** What its former run left: absent if that is nothing. */
  carried?: Partial<Carried>
}

/** Who is told that a workflow was cut off: ids, names and counts. */
export type OnCutOff = (facts: Record<string, unknown>) => void

/** Of the 2 MB that an argument may have. Milestones beyond it are named in the log, and have to be sent again. */
const CARRIED_BYTES = 1_500_000

/**
 * What a lead’s workflow starts with: the record’s state, and what its former run had received and not recorded if
 * it was terminated. `undefined` if there is no such lead.
 */
export async function startStateOf(
  { client, sql, onCutOff }: { client: Client; sql: Sql; onCutOff?: OnCutOff },
  leadId: number,
): Promise<StartState | undefined> {
  const state = await loadReferralState(sql, leadId)
  // a closed lead takes nothing more
  if (state === undefined || state.closing) return state && { state }
  const cutOff = await unrecordedBefore(client, leadId)
  if (cutOff === undefined) return { state }
  const { inbox, unscored, closeReason, left } = await unknownOf(sql, leadId, cutOff)
  const facts = {
    lead_id: leadId,
    workflow_id: referralId(leadId),
    run_id: cutOff.runId,
    ended_by: cutOff.endedBy,
  }
  const names = [...inbox, ...unscored].map(({ name }) => name)
  onCutOff?.({ ...facts, recorded_now: names, closing: closeReason !== null, ...(left > 0 && { left }) })
  if (names.length === 0 && closeReason === null) return { state }
  const why = `was ended from outside before it had recorded ${names.length} of its milestones: they are recorded now`
  const notes = [{ at: Date.now() + state.offset, what: 'workflow', why }]
  return {
    state: { ...state, closing: closeReason !== null },
    carried: { inbox, unscored, closeReason, ...(names.length > 0 && { notes }) },
  }
}

/** What of it the record does not have, as much as an argument may have; `left` is how many more there are. */
async function unknownOf(sql: Sql, leadId: number, { inbox, unscored, closeReason }: Unrecorded) {
  const keys = [...inbox, ...unscored].map(({ dedupeKey }) => dedupeKey)
  const there = await recordedAmong(sql, leadId, keys)
  let bytes = 0
  const unknown = (items: Unrecorded['inbox']) => items.filter(({ dedupeKey }) => !there.has(dedupeKey))
  const fits = (item: Unrecorded['inbox'][number]) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1
    return bytes <= CARRIED_BYTES
  }
  const all = { inbox: unknown(inbox), unscored: unknown(unscored) }
  const kept = { inbox: all.inbox.filter(fits), unscored: all.unscored.filter(fits) }
  const left = all.inbox.length + all.unscored.length - kept.inbox.length - kept.unscored.length
  return { ...kept, closeReason, left }
}
