import type { RawBuilder } from 'kysely'
import type { AnyCloseReason } from '../decisions/reasons.ts'

/** When a lead is going to be closed, and why: an expression in a statement that selects from `leads`. */
export type PendingClosing = RawBuilder<{ at: string; reason: AnyCloseReason } | null>
