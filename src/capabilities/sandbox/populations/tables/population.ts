import { defineEntity, p } from '@mikro-orm/core'
import type { Mix } from '../decisions/journeys.ts'
import { type PopulationEnd, populationEnds, type Progress, type Report } from '../decisions/population.ts'
import { instant, oneOf } from '../../../../core/database/columns.ts'
import { Partner } from '../../../../core/partners/tables/partner.ts'

/** Made-up borrowers whose journeys are played, all for one partner. Sandbox only. */
export const Population = defineEntity({
  name: 'Population',
  tableName: 'populations',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partner: () => p.manyToOne(Partner).deleteRule('restrict'),
    size: p.integer(),
    seed: p.integer(),
    mix: p.json<Mix>(),
    /** The sink answers one webhook of so many with this status; null for none. */
    faultOneIn: p.integer().nullable(),
    faultStatus: p.integer().nullable(),
    /** The request that asked for it. */
    requestId: p.uuid(),
    requestedAt: instant().defaultRaw('clock_timestamp()'),
    /** The latest sign of its workflow. */
    playedAt: instant().nullable(),
    cancelRequestedAt: instant().nullable(),
    endedAt: instant().nullable(),
    outcome: p.text().$type<PopulationEnd>().nullable(),
    progress: p.json<Progress>().nullable(),
    report: p.json<Report>().nullable(),
  },
  checks: [
    { name: 'populations_outcome_check', expression: oneOf('outcome', populationEnds) },
    {
      name: 'populations_ended_check',
      expression: '(ended_at is null) = (outcome is null) and (ended_at is null) = (report is null)',
    },
    { name: 'populations_faults_check', expression: '(fault_one_in is null) = (fault_status is null)' },
  ],
  indexes: [
    {
      name: 'populations_open_unique',
      expression:
        'create unique index populations_open_unique on populations (partner_id) where ended_at is null',
    },
    { name: 'populations_partner_index', properties: ['partner', 'id'] },
  ],
})
