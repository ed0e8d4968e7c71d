/** Values by the name under which the reference shows them. */
export type Examples = Record<string, unknown>

export const newLeadExample: Examples = {
  complete: {
    first_name: 'Ada',
    last_name: 'Miller',
    email: 'ada.miller@example.com',
    phone: '+1 555-010-0100',
    partner_lead_id: 'LOAN-2026-118',
    fico_range: '550-579',
    loan_officer_id: 'LO-7',
    notes: 'Declined: score below the programme’s minimum.',
  },
  'required fields only': {
    first_name: 'Ada',
    last_name: 'Miller',
    email: 'ada.miller@example.com',
    phone: '555-010-0100',
  },
}

export const leadIdExample: Examples = { lead: { lead_id: 1042 } }

export const metadataExample: Examples = {
  metadata: { lead_id: 1042, loan_product: 'FHA', property_state: 'TX', branch: 'Austin South' },
  'change the lead': { lead_id: 1042, partner_lead_id: 'LOAN-2026-131', fico_range: '580-619' },
  'remove a field': { lead_id: 1042, branch: null },
}

export const leadExample: Examples = {
  lead: {
    success: true,
    data: {
      loan_product: 'FHA',
      property_state: 'TX',
      branch: 'Austin South',
      id: 1042,
      lead_id: 1042,
      partner_id: 7,
      partner_lead_id: 'LOAN-2026-118',
      first_name: 'Ada',
      last_name: 'Miller',
      email: 'ada.miller@example.com',
      phone: '+1 555-010-0100',
      status: 'contract_signed',
      fico_range: '550-579',
      loan_officer_id: 'LO-7',
      created_at: '2026-03-02 15:04:05',
      updated_at: '2026-03-09 10:30:00',
    },
  },
}
