import { defineEntity, p } from '@mikro-orm/core'
import { type RunKind, runKinds } from '../decisions/sandbox-runs.ts'
import type { ScenarioName } from '../decisions/scenarios.ts'
import { instant, oneOf } from '../../../core/database/columns.ts'
import { Lead } from '../../../core/leads/tables/lead.ts'
import { Partner } from '../../../core/partners/tables/partner.ts'

/** A scenario that waits or is played, or an advance of a clock that is under way. Sandbox only; deleted once it is over. */
export const SandboxRun = defineEntity({
  name: 'SandboxRun',
  tableName: 'sandbox_runs',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    lead: () => p.manyToOne(Lead).deleteRule('cascade'),
    partner: () => p.manyToOne(Partner).deleteRule('restrict'),
    kind: p.text().$type<RunKind>(),
    /** Which one; null for an advance. */
    scenario: p.text().$type<ScenarioName>().nullable(),
    requestedAt: instant().defaultRaw('clock_timestamp()'),
    /** When it got its place among those of its partner. */
    admittedAt: instant().nullable(),
    /**
     * When a scenario's workflow began to play it: from then on Temporal keeps it. Of an advance: since when the lead's
     * workflow moves the clock; null once that is left to a workflow of its own.
     */
    begunAt: instant().nullable(),
  },
  checks: [
    { name: 'sandbox_runs_kind_check', expression: oneOf('kind', runKinds) },
    { name: 'sandbox_runs_scenario_check', expression: "(scenario is not null) = (kind = 'scenario')" },
  ],
  indexes: [
    {
      name: 'sandbox_runs_lead_unique',
      expression: 'create unique index sandbox_runs_lead_unique on sandbox_runs (lead_id, kind)',
    },
    { name: 'sandbox_runs_partner_index', properties: ['partner', 'kind', 'id'] },
  ],
})
