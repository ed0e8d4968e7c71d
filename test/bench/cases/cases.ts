import type { Bench } from '../load/load.ts'
import type { Row } from '../rows.ts'
import { burst } from './burst.ts'
import { createLead } from './create-lead.ts'
import { fleet } from './fleet.ts'
import { growth } from './growth.ts'
import { isolation } from './isolation.ts'
import { logging } from './log.ts'
import { memory } from './memory.ts'
import { milestones } from './milestones.ts'
import { leadCalls } from './reads.ts'
import { onePartner } from './one-partner.ts'
import { resends } from './resends.ts'
import { restart } from './restart.ts'
import { running } from './running.ts'
import { advanceMany, sandbox } from './sandbox.ts'
import { scenarios } from './scenarios.ts'
import { starting } from './starting.ts'

interface Case {
  name: string
  about: string
  byNameOnly?: boolean
  run: (bench: Bench) => Promise<Row[]>
}

const calls = (name: string): Case => ({
  name,
  about: 'leads that are there',
  run: (bench) => leadCalls(bench, name),
})

export const cases: Case[] = [
  { name: 'create-lead', about: 'with Temporal up and down; starts and backlog', run: createLead },
  calls('get-lead'),
  calls('get-events'),
  calls('update-partner-info'),
  { name: 'running', about: 'create-lead to a workflow that Temporal knows', run: running },
  { name: 'milestones', about: 'unloaded, at 25/s and flat out, to the verified webhook', run: milestones },
  { name: 'one-partner', about: 'milestones of one partner flat out, against ten', run: onePartner },
  { name: 'sandbox', about: 'a lead’s clock: 45 days and a year in one call', run: sandbox },
  { name: 'start', about: 'npm start to ready', run: starting },
  {
    name: 'growth',
    about: '3,000,000 leads with 30,000,000 events, webhooks and attempts',
    byNameOnly: true,
    run: growth,
  },
  { name: 'log', about: 'the lines of a milestone, off and on', byNameOnly: true, run: logging },
  { name: 'fleet', about: 'what two and four workers cost', byNameOnly: true, run: fleet },
  { name: 'burst', about: 'score updates that are due at once', byNameOnly: true, run: burst },
  {
    name: 'restart',
    about: 'a worker that finds a milestone of each of thousands of leads',
    byNameOnly: true,
    run: restart,
  },
  { name: 'memory', about: 'of API and worker, up to 50,000 open workflows', byNameOnly: true, run: memory },
  {
    name: 'isolation',
    about: 'a hanging endpoint beside a healthy one',
    byNameOnly: true,
    run: isolation,
  },
  {
    name: 'resends',
    about: 'a flood of resends to a hanging endpoint beside a healthy one',
    byNameOnly: true,
    run: resends,
  },
  {
    name: 'scenarios',
    about: '300 scenarios of one key beside another partner',
    byNameOnly: true,
    run: scenarios,
  },
  { name: 'advance-many', about: '1,000 leads advanced at once', byNameOnly: true, run: advanceMany },
]
