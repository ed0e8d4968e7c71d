/** What create-lead needs at least. */
export const LEAD = { first_name: 'Ada', last_name: 'Miller', email: 'ada@example.com', phone: '+1 555-0100' }
