import { sql as raw } from 'kysely'
import { oldRows, type Retained } from '../../../../core/database/retained.ts'
import { KEPT } from '../decisions/population.ts'

export const oldPopulations: Retained<unknown> = {
  name: 'populations',
  meaning: 'reports of a sandbox’s populations: deleted; their leads stay',
  days: () => KEPT.days,
  ...oldRows('populations', 'ended_at', raw`true`),
}
