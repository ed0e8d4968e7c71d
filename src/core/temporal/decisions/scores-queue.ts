/**
 * The task queue of the activities that ask the score provider. Each worker polls it beside the queue `referrals`, with
 * places of its own, so that:
 *
 * - the server bounds how many are started a second, however many score updates are due and however many workers there are;
 * - a provider that hangs takes no place from milestones and webhooks.
 */
export const SCORES_QUEUE = 'scores'
