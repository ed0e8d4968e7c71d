/**
 * A delivery is one event on its way to the partner's endpoint. Each of its HTTP requests is an attempt.
 *
 * | State       | Meaning                                                    | Changes to                             |
 * | ----------- | ---------------------------------------------------------- | -------------------------------------- |
 * | `pending`   | to be sent; shown as `held` while its endpoint is paused    | any of the others                      |
 * | `delivered` | the endpoint answered 2xx                                   | nothing                                |
 * | `given_up`  | the schedule is used up, and the endpoint took others since | `delivered`, by a resend or replay     |
 * | `canceled`  | staff left it out before it was sent, or the lead is erased | nothing                                |
 */
export const deliveryStates = ['pending', 'delivered', 'given_up', 'canceled'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** As partners and staff are shown it: `held` is pending while its endpoint is paused. */
export const deliveryStatuses = [...deliveryStates, 'held'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/**
 * Why an attempt is made. `scheduled`: the lead's workflow, in the order of the lead's webhooks. `probe`: whether a
 * paused endpoint works again. `resend` and `replay`: a settled delivery once more.
 */
export const attemptTriggers = ['scheduled', 'resend', 'replay', 'probe'] as const
export type AttemptTrigger = (typeof attemptTriggers)[number]

const SECOND_MS = 1000

/** How long a request may take, from the lookup of the name to the answer's last byte. */
export const REQUEST_LIMIT_MS = 15 * SECOND_MS

/** How long an attempt may settle its delivery: above `REQUEST_LIMIT_MS`, by what writing the outcome may take. */
export const LEASE_MS = 20 * SECOND_MS

/** Requests of a process to one endpoint at a time. */
export const ENDPOINT_CAP = 10

/** A webhook that was attempted so often is not resent. The schedule alone makes fewer, but for an endpoint that fails for years. */
export const MOST_ATTEMPTS = 1000

/** How many settled webhooks of a partner may wait to be sent once more. */
export const MOST_RESENDS = 1000

/** So many attempts in a row that a crash or a deployment cut off count as one failure. */
export const INTERRUPTIONS_PER_FAILURE = 3

/** The failure in a row at which a delivery's partner hears of it. */
export const FAILING_AFTER = 4
