import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { createLead } from '../../db/leads/create-lead.ts'
import { leadIds } from '../../db/leads/ids.ts'
import type { WebhookBody } from '../../db/leads/new-lead.ts'
import { readLeadClock } from '../../db/leads/next-due.ts'
import { ownsLead } from '../../db/leads/partner-reads.ts'
import type { Sql } from '../../db/orm.ts'
import { eachField, optionalFieldNames } from '../../domain/lead-fields.ts'
import { newReferralState, type ReferralState } from '../../domain/referral.ts'
import { scenarioNames, webhooksOf } from '../../domain/scenarios.ts'
import type { Scenarios } from '../../temporal/scenarios.ts'
import { ApiError, invalidPayload, unavailable, unknownLead } from '../errors.ts'
import { eventName } from '../events.ts'
import { leadId, oneOf } from '../fields.ts'
import { scenarioName } from './list-scenarios.ts'
import { operation } from '../openapi/operation.ts'
import { leadStatus, strictBody } from '../schemas.ts'
import { dueOf, dueView, leadClosed } from './clock-view.ts'
import { ofLead, success } from '../response-fields.ts'

export interface ScenarioOptions {
  sql: Sql
  encryptionKeys: readonly Buffer[]
  webhookBody: WebhookBody
  startReferral: (state: ReferralState) => void
  scenarios: Scenarios
}

/** A borrower for a lead that a scenario makes: nobody real. */
const BORROWER = {
  ...eachField(optionalFieldNames, () => null),
  first_name: 'Sam',
  last_name: 'Sandbox',
  email: 'sam.sandbox@example.com',
  phone: '555-010-0100',
}

const schema = operation({
  operationId: 'runScenario',
  tags: ['Sandbox'],
  summary: 'Play a whole journey',
  description:
    'Plays a scenario with a lead, or with a new one if you name none. Its milestones are recorded and sent as in production, on the lead’s own clock, which moves as far as the scenario takes. `GET /v1/sandbox/scenarios` lists the scenarios and the webhooks of each. The response comes when the scenario is over, or after ten seconds: the rest continues on its own.',
  body: strictBody(
    {
      scenario: z.enum(scenarioNames, { error: oneOf(scenarioNames) }).meta({ describedAs: 'ScenarioName' }),
      lead_id: leadId.optional().describe('By default a new lead.'),
    },
    'scenario is required',
  ),
  bodyExamples: { 'a new lead': { scenario: 'mortgage_ready_in_a_year' } },
  response: z.object({
    success,
    data: z
      .object({
        lead_id: ofLead,
        scenario: scenarioName,
        state: z
          .enum(['done', 'running', 'stopped', 'closed'])
          .describe(
            '`running`: it continues on its own. `stopped`: your endpoint refuses webhooks for so long that production would pause it. `closed`: the lead was closed on the way.',
          ),
        status: leadStatus,
        webhooks: z
          .array(eventName)
          .optional()
          .describe(
            'The webhooks to expect, in their order. Absent if you named a lead: what it has already does not happen again.',
          ),
        next: dueView,
      })
      .meta({ id: 'ScenarioRun' }),
  }),
  responseDescription: 'The scenario was played, or is being played.',
  responseExamples: {
    done: {
      success: true,
      data: {
        lead_id: 1042,
        scenario: 'ready_after_two_updates',
        state: 'done',
        status: 'mortgage_ready',
        webhooks: webhooksOf('ready_after_two_updates'),
        next: { what: 'end', at: '2026-07-14 10:30:00' },
      },
    },
  },
  links: { lead_id: '/data/lead_id' },
  errors: [
    invalidPayload('Invalid request: scenario is required.'),
    unknownLead(),
    leadClosed(),
    new ApiError('CLOCK_MOVING'),
  ],
})

/** POST /sandbox/run-scenario: a whole journey in one call. */
export const runScenario: FastifyPluginAsyncZod<ScenarioOptions> = async (app, options) => {
  const { sql, encryptionKeys, webhookBody, startReferral, scenarios } = options
  const takeLeadId = leadIds(sql)

  async function newLead(partnerId: number): Promise<number> {
    const creation = { sql, takeLeadId, encryptionKeys }
    const made = await createLead(creation, partnerId, BORROWER, webhookBody, (lead) => lead)
    if (made.kind !== 'created') throw new Error('there was no key that was used before')
    const facts = { generation: made.generation, now: Date.now(), isSandbox: true }
    startReferral(newReferralState(made.leadId, partnerId, facts))
    return made.leadId
  }

  app.post('/sandbox/run-scenario', {
    schema,
    handler: async (request) => {
      const { partnerId } = request
      const { scenario, lead_id: named } = request.body
      if (named !== undefined) {
        if (!(await ownsLead(sql, partnerId, named))) throw unknownLead()
        if ((await readLeadClock(sql, named))?.isClosed) throw leadClosed()
      }
      const lead = named ?? (await newLead(partnerId))
      request.leadId = lead
      const state = await scenarios.run(lead, scenario).catch((err: unknown) => {
        request.log.warn({ err }, 'scenario not started')
        throw unavailable()
      })
      if (state === 'refused') throw new ApiError('CLOCK_MOVING')
      const clock = await readLeadClock(sql, lead)
      if (clock === undefined) throw unknownLead()
      const { status } = clock
      const data = {
        lead_id: lead,
        scenario,
        state,
        status,
        ...(named === undefined && { webhooks: webhooksOf(scenario) }),
        next: dueOf(clock),
      }
      return { success: true as const, data }
    },
  })
}
