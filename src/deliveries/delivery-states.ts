/**
 * A delivery is one event on its way to the partner's endpoint. Each of its HTTP requests is an attempt.
 *
 * | State       | Meaning                                                     | Changes to                         |
 * | ----------- | ----------------------------------------------------------- | ---------------------------------- |
 * | `pending`   | to be sent; shown as `held` while its endpoint is paused    | any of the others                  |
 * | `delivered` | the endpoint answered 2xx                                   | nothing                            |
 * | `given_up`  | the schedule is used up, and the endpoint took others since | `delivered`, by a resend or replay |
 * | `canceled`  | staff left it out before it was sent, or the lead is erased | nothing                            |
 */
export const deliveryStates = ['pending', 'delivered', 'given_up', 'canceled'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** The states that partners and staff see: `held` is pending while its endpoint is paused. */
export const deliveryStatuses = [...deliveryStates, 'held'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/**
 * Why an attempt is made. `scheduled`: the lead's workflow, in the order of the lead's webhooks. `probe`: to test whether a
 * paused endpoint works again. `resend`: somebody asked for it. `replay`: staff asked for many settled deliveries.
 */
export const attemptTriggers = ['scheduled', 'resend', 'replay', 'probe'] as const
export type AttemptTrigger = (typeof attemptTriggers)[number]

/** The triggers of requested attempts, which are outside the schedule. */
export type Asked = Extract<AttemptTrigger, 'resend' | 'replay'>

/** The time limit of a request, from the DNS lookup to the last byte of the response. */
export const REQUEST_LIMIT_MS = 15_000

/** How long a lease lasts: a request, and the time to write its outcome. */
export const LEASE_MS = 20_000

/** Concurrent requests of one process to one partner. */
export const ENDPOINT_CAP = 10

/** How many settled webhooks of a partner may wait to be resent. */
export const MOST_RESENDS = 1000

/** Failures of a delivery in a row, after which its partner is told. */
export const FAILING_AFTER = 3
