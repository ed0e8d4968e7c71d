/**
 * The task queue of the activities that send a webhook and wait for the endpoint. Each worker polls it beside the queue
 * `referrals`, with places of its own: however many endpoints hang, milestones are recorded. A webhook that its recording
 * sends at once is on `referrals`, which waits for it for a second.
 */
export const DELIVERIES_QUEUE = 'deliveries'
