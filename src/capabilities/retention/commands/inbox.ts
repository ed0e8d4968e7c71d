import { type Retained, RetentionHeld } from '../../../core/database/retained.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { command, firstOf, type InboxItem, type InboxSource } from '../../../staff/inbox.ts'
import { Refusal } from '../../../staff/refusal.ts'
import { lastRunOf } from '../statements/runs.ts'
import { requireSameClock } from '../statements/same-clock.ts'
import { type Limits, limitsOf } from './limits.ts'

/** @param classes what is removed when it is old. */
export const retentionInbox = (classes: readonly Retained<Limits>[]): InboxSource => ({
  kind: 'retention',
  find: async (context, limit) => {
    const { sql } = context
    const items: InboxItem[] = []
    await requireSameClock(sql, Date.now).catch(async (error: unknown) => {
      items.push(held(error, { mend: 'correct the clock that is wrong', since: null }))
    })
    const config = limitsOrWhy(context)
    if (typeof config === 'string') {
      const what = 'Whether retention waits for a yes cannot be told here.'
      return firstOf([...items, { what, since: null, touches: {}, mend: config }], limit)
    }
    for (const { name, days, ceiling } of classes) {
      const limitDays = days(config)
      if (ceiling === undefined || limitDays === null) continue
      await ceiling.require(sql, limitDays, config).catch(async (error: unknown) => {
        const since = await lastRunOf(sql, name)
        items.push(held(error, { mend: mendOf(error), since }))
      })
    }
    return firstOf(items, limit)
  },
})

function limitsOrWhy({ config }: Pick<StaffContext, 'config'>): Limits | string {
  try {
    return limitsOf(config)
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
}

/** @throws what is no brake. */
function held(error: unknown, rest: Pick<InboxItem, 'mend' | 'since'>): InboxItem {
  if (!(error instanceof RetentionHeld)) throw error
  return {
    what: `Retention waits for a yes. ${error.message}.`,
    touches: { leads: error.rows ?? 0 },
    ...rest,
  }
}

const mendOf = (error: unknown) =>
  command(`retention confirm ${error instanceof RetentionHeld ? (error.rows ?? 'LEADS') : 'LEADS'}`)
