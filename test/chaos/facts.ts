import { milestones } from '../../src/core/leads/decisions/milestones.ts'
import type { LeadJournal, SentMilestone } from './evidence.ts'

/** What a milestone says: two that say the same are recorded once. */
export const factOf = ({ name, id }: Pick<SentMilestone, 'name' | 'id'>) =>
  milestones[name].once ? name : `${name}:${id}`

/** The different facts that are sent to a lead, each with the first that said it. */
export function factsOf({ milestones: sent }: Pick<LeadJournal, 'milestones'>): Map<string, SentMilestone> {
  return new Map(sent.toReversed().map((milestone) => [factOf(milestone), milestone]))
}
