/** The parts of an exported lead, in their order, with what the export says about each. */
export const exportedParts = {
  lead: 'The borrower’s data as the partner sent it, with notes and metadata, and the status.',
  onboarding_email: 'The email that welcomes the borrower, and why it was not sent if it was not.',
  clock: 'In a sandbox, by how many seconds the lead’s clock was advanced.',
  score_updates: 'The date from which score updates are counted, every 45 days.',
  closing:
    'When the lead was closed, 30 days after mortgage_ready or by whom, and why. get-lead has a closing that waits.',
  workflow:
    'The lead’s workflow in Temporal. It holds ids, states and dates, and what senders put into signals; no name, address or phone number.',
  idempotency_keys: 'The Idempotency-Key of the request that created the lead, kept for 24 hours.',
  events: 'The history, oldest first.',
  deliveries:
    'The webhooks about the lead, in their order: the body that each attempt sends, and what the partner’s endpoint answered.',
  actions: 'What the partner’s keys and staff did with the lead, and when staff looked at it, oldest first.',
} as const

export type ExportedPart = keyof typeof exportedParts
