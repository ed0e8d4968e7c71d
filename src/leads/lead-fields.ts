/**
 * The fields of a lead that partners send: requests and responses of the API, the columns that are written and erased, and
 * exports derive from these lists. An optional field's rule and meaning are in `src/http/fields.ts`, and its column, which
 * is not sealed, in `src/leads/lead.ts`; the compiler asks for both. `notes` are sealed with the borrower.
 *
 * Source: interface specification, section 2.1.
 */

/** Who the borrower is. */
export const requiredFields = ['first_name', 'last_name', 'email', 'phone'] as const

/** Returned by get-lead, changed by update-partner-info, which stores any other name as a custom field. */
export const changeableFields = ['partner_lead_id', 'fico_range', 'loan_officer_id'] as const
export type ChangeableField = (typeof changeableFields)[number]

export const optionalFields = [...changeableFields, 'notes'] as const
export type OptionalField = (typeof optionalFields)[number]

type KeptField = 'partner_lead_id'
/** Emptied by an erasure, since they describe the borrower: all but the partner's own identifier. */
export const erasedFields = changeableFields.filter(
  (name): name is Exclude<ChangeableField, KeptField> => name !== 'partner_lead_id',
)

/** An object with a value for each of `names`. */
export function eachField<Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>
}
