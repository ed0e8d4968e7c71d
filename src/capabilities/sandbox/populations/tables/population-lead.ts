import { defineEntity, p } from '@mikro-orm/core'
import { type JourneyKind, journeyKindNames } from '../decisions/journeys.ts'
import { type LeadEnd, leadEnds } from '../decisions/population.ts'
import { oneOf } from '../../../../core/database/columns.ts'
import { Lead } from '../../../../core/leads/tables/lead.ts'
import { Population } from './population.ts'

/** A lead of a population, written with the lead itself. It stays with the lead: its borrower is made up for good. */
export const PopulationLead = defineEntity({
  name: 'PopulationLead',
  tableName: 'population_leads',
  properties: {
    lead: () => p.oneToOne(Lead).owner().primary().deleteRule('cascade'),
    /** `null` once the population is forgotten. */
    population: () => p.manyToOne(Population).nullable().deleteRule('set null'),
    /** From 1: with the seed it decides the journey. */
    number: p.integer(),
    kind: p.text().$type<JourneyKind>(),
    /** From where the journey goes on. Steps that are taken again change nothing. */
    step: p.integer().default(0),
    outcome: p.text().$type<LeadEnd>().nullable(),
  },
  checks: [
    { name: 'population_leads_kind_check', expression: oneOf('kind', journeyKindNames) },
    { name: 'population_leads_outcome_check', expression: oneOf('outcome', leadEnds) },
  ],
  uniques: [{ name: 'population_leads_number_unique', properties: ['population', 'number'] }],
})
