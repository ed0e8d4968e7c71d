import { type ExportedPart, exportedParts } from '../decisions/exported-lead.ts'
import type { Pages } from '../../../core/values/json-pieces.ts'
import { eachField, optionalFieldNames, requiredFields } from '../../../core/leads/decisions/lead-fields.ts'
import { formatTimestamp } from '../../../core/values/timestamps.ts'
import { nextAttemptOf } from '../../../core/deliveries/statements/list.ts'
import { findOnboardingMail } from '../../../core/leads/statements/onboarding.ts'
import type { WholeLead } from '../../../core/leads/statements/partner-reads.ts'
import type { Sql } from '../../../core/database/sql.ts'
import { actionsOn, type Attempt, deliveriesOf, eventsOf, idempotencyKeysOf } from './export-pages.ts'

/** Whom the export is for: partners are not told who of staff did something, and as what details. */
export type Viewer = 'partner' | 'staff'

const time = (at: Date | null) => at && formatTimestamp(at)

/**
 * Everything that is kept of a lead, as the properties of a JSON object. What may be long is read while it is written.
 *
 * @param workflowId of its workflow in Temporal.
 */
export async function exportedLead(
  sql: Sql,
  lead: WholeLead,
  { viewer, workflowId }: { viewer: Viewer; workflowId: string },
): Promise<Record<'about' | 'exported_at' | ExportedPart, unknown>> {
  const { id, partner_id: partnerId } = lead
  const mail = await findOnboardingMail(sql, id)
  return {
    about: exportedParts,
    exported_at: formatTimestamp(new Date()),
    lead: {
      lead_id: id,
      partner_id: partnerId,
      ...eachField(requiredFields, (name) => lead.borrower?.[name] ?? null),
      ...eachField(optionalFieldNames, (name) => lead[name]),
      metadata: lead.metadata,
      status: lead.status,
      created_at: time(lead.created_at),
      updated_at: time(lead.updated_at),
    },
    onboarding_email: {
      sent_at: time(lead.onboarding_sent_at),
      not_sent_because: mail?.refused ?? null,
    },
    clock: { seconds_ahead: lead.clock_offset },
    score_updates: { since: time(lead.anchor_at) },
    closing: { closed_at: time(lead.closed_at), reason: lead.close_reason },
    workflow: { workflow_id: workflowId, started_at: time(lead.workflow_started_at) },
    idempotency_keys: (await idempotencyKeysOf(sql, partnerId, id)).map((row) => ({
      key: row.key,
      created_at: time(row.created_at),
    })),
    events: mapped(eventsOf(sql, id), eventOf),
    deliveries: mapped(deliveriesOf(sql, id), deliveryOf),
    actions: mapped(actionsOn(sql, id), (row) => actionOf(row, viewer)),
  }
}

async function* mapped<Row>(pages: AsyncIterable<Row[]>, toWire: (row: Row) => object): Pages {
  for await (const page of pages) yield page.map(toWire)
}

type RowOf<Read extends (...args: never[]) => AsyncIterable<object[]>> =
  ReturnType<Read> extends AsyncIterable<(infer Row)[]> ? Row : never

const eventOf = (row: RowOf<typeof eventsOf>) => ({
  event_id: row.event_id,
  sequence: row.sequence,
  event_name: row.event_name,
  event_payload: row.event_payload,
  created_at: time(row.created_at),
})

const deliveryOf = (row: RowOf<typeof deliveriesOf>) => ({
  sequence: row.sequence,
  event_id: row.event_id,
  state: row.state,
  body: row.body,
  next_attempt_at: time(nextAttemptOf(row)),
  settled_at: time(row.settled_at),
  attempts: mapped(row.attempts, attemptOf),
})

const attemptOf = (row: Attempt) => ({
  number: row.number,
  trigger: row.trigger,
  started_at: time(row.started_at),
  finished_at: time(row.finished_at),
  duration_ms: row.duration_ms,
  address: row.address,
  status: row.status,
  error_code: row.error_code,
  hint: row.hint,
  response_headers: row.response_headers,
  response_body: row.response_body,
})

/** A partner's own actions are by `key <id>`. */
function actionOf({ at, action, outcome, actor, detail }: RowOf<typeof actionsOn>, viewer: Viewer) {
  const by = /^key \d+$/.test(actor) ? actor : 'staff'
  return { at: time(at), action, outcome, by, ...(viewer === 'staff' && { actor, detail }) }
}
