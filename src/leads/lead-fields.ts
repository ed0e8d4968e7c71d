/**
 * The fields of a lead that partners send: the one table from which requests and responses of the API, the columns that
 * are written and erased, and staff's view derive. A field's column is in `src/leads/lead.ts`, its rule in
 * `src/http/fields.ts`; the compiler asks for both.
 *
 * Source: interface specification, section 2.1.
 */

interface LeadField {
  /** Its name in staff's view. */
  readonly label: string
  /** Whether update-partner-info changes it. To that call, any other name is a custom field of the partner's. */
  readonly changeable: boolean
  /** Whether get-lead returns it. */
  readonly returned: boolean
  /** Whether an erasure empties it: all that says something of the borrower. */
  readonly erased: boolean
}

/** Who the borrower is. */
export const requiredFields = ['first_name', 'last_name', 'email', 'phone'] as const

export const optionalFields = {
  partner_lead_id: { label: 'partner’s lead id', changeable: true, returned: true, erased: false },
  fico_range: { label: 'FICO range', changeable: true, returned: true, erased: true },
  loan_officer_id: { label: 'loan officer', changeable: true, returned: true, erased: true },
  notes: { label: 'notes', changeable: false, returned: false, erased: true },
} as const satisfies Record<string, LeadField>

export type OptionalField = keyof typeof optionalFields
export type ChangeableField = With<'changeable'>
type With<Property extends keyof LeadField> = {
  [Name in OptionalField]: (typeof optionalFields)[Name][Property] extends true ? Name : never
}[OptionalField]

export const optionalFieldNames = Object.keys(optionalFields) as OptionalField[]
export const changeableFields = fieldsWith('changeable')
export const returnedFields = fieldsWith('returned')
export const erasedFields = fieldsWith('erased')

function fieldsWith<Property extends 'changeable' | 'returned' | 'erased'>(
  property: Property,
): With<Property>[] {
  return optionalFieldNames.filter((name): name is With<Property> => optionalFields[name][property])
}

/** An object with a value for each of `names`. */
export function eachField<Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>
}
