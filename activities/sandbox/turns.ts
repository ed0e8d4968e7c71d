/** A turn ends once nothing was done in it for so long: then others had the worker in between. */
const IDLE_MS = 5000

/**
 * Turns of each partner's leads in this process, one at a time: a scenario makes a year's work in a second, and create-lead
 * asks for hundreds.
 *
 * @returns whether a lead has its turn.
 */
export function takeTurns() {
  const turns = new Map<number, { leadId: number; usedAt: number }>()
  return (partnerId: number, leadId: number): boolean => {
    const now = performance.now()
    const turn = turns.get(partnerId)
    if (turn !== undefined && turn.leadId !== leadId && turn.usedAt > now - IDLE_MS) return false
    turns.set(partnerId, { leadId, usedAt: now })
    return true
  }
}
