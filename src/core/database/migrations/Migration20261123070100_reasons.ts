import { Migration } from '@mikro-orm/migrations'

const CLOSE = `('withdrew', 'unreachable', 'ineligible', 'financed_elsewhere', 'duplicate', 'mistake', 'other', 'mortgage_ready', 'canceled', 'erased')`
const HOLD = `('litigation', 'investigation', 'complaint', 'legal_obligation', 'other')`
const ERASURE = `('borrower_request', 'no_consent', 'not_needed', 'legal_obligation', 'mistake', 'other', 'requested', 'retention', 'journal')`
const REFERENCE = '[A-Z0-9-]{1,40}'

/**
 * Reasons are codes, with a case number beside them. Those in free text become the code that means the same, or `other`; what
 * the audit says of them stays. Both tables are locked while each is read twice.
 */
export class Migration20261123070100_reasons extends Migration {
  override up(): void {
    this.addSql(`alter table "leads" add column "hold_reference" text null`)
    // in one statement: a row has to pass all checks
    this.addSql(`update "leads" set
        "close_reason" = case when "close_reason" is null or "close_reason" in ${CLOSE} then "close_reason"
          when "close_reason" = 'borrower withdrew' then 'withdrew'
          when "close_reason" = 'created by mistake' then 'mistake' else 'other' end,
        "hold_reason" = case when "hold_reason" is null or "hold_reason" in ${HOLD} then "hold_reason"
          when "hold_reason" ~ '^litigation([ ,.]|$)' then 'litigation' else 'other' end,
        "hold_reference" = substring("hold_reason" from '^litigation, case (${REFERENCE})$')
      where "close_reason" not in ${CLOSE} or "hold_reason" not in ${HOLD}`)
    this.addSql(`alter table "leads"
      add constraint "leads_close_reason_check" check ("close_reason" in ${CLOSE}),
      add constraint "leads_hold_reason_check" check ("hold_reason" in ${HOLD}),
      add constraint "leads_hold_reference_check" check (hold_reference is null or held_at is not null and hold_reference ~ '^${REFERENCE}$')`)
    this.addSql(`alter table "erasures" add column "reference" text null`)
    this.addSql(`update "erasures" set "reason" = case
        when "requested_by" in ('retention', 'journal') then "requested_by"
        when "reason" in ('the borrower asked for it', 'request of the borrower') then 'borrower_request' else 'other' end
      where "reason" not in ${ERASURE}`)
    this.addSql(`alter table "erasures"
      add constraint "erasures_reason_check" check ("reason" in ${ERASURE}),
      add constraint "erasures_reference_check" check (reference ~ '^${REFERENCE}$')`)
  }
}
