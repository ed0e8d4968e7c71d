import { burst } from './burst.ts'
import { createLead } from './create-lead.ts'
import { growth } from './growth.ts'
import { besideHanging, besideResends } from './isolation.ts'
import { milestones } from './milestones.ts'
import { reads } from './reads.ts'
import { sandbox } from './sandbox.ts'
import { starting } from './starting.ts'
import type { Row } from './table.ts'

interface Case {
  name: string
  about: string
  /** It takes long. */
  byNameOnly?: boolean
  run: () => Promise<Row[]>
}

export const cases: Case[] = [
  { name: 'create-lead', about: 'with Temporal down and up', run: createLead },
  { name: 'reads', about: 'get-lead, get-events and update-partner-info', run: reads },
  { name: 'milestones', about: 'unloaded, at 25/s and flat out, to the verified webhook', run: milestones },
  { name: 'sandbox', about: 'a lead’s clock: 45 days and a year in one call', run: sandbox },
  { name: 'start', about: 'npm start to ready', run: starting },
  { name: 'growth', about: 'get-lead with 1,000,000 leads', byNameOnly: true, run: growth },
  { name: 'isolation', about: 'beside an endpoint that hangs', byNameOnly: true, run: besideHanging },
  { name: 'resends', about: 'beside a flood of resends', byNameOnly: true, run: besideResends },
  { name: 'burst', about: '2,000 score updates due at once', byNameOnly: true, run: burst },
]
