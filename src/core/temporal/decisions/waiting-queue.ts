/**
 * The task queue of activities that wait for others. Each worker polls it beside the queue `referrals`, with places of its
 * own: an activity that waited in one of the places that the other needs would keep it from ever coming.
 *
 * | Queue        | Its activities wait for                                                                         |
 * | ------------ | ----------------------------------------------------------------------------------------------- |
 * | `referrals`  | PostgreSQL, one HTTP or SMTP request, and their turn among activities that run already: for no activity |
 * | `deliveries` | PostgreSQL and one request to an endpoint, for 15 seconds: for no activity                              |
 * | `scores`     | PostgreSQL and the score provider: for no activity                                                      |
 * | `waiting`    | activities of `referrals` and `deliveries`: dates on a lead's clock, a lead that takes over a restored record |
 *
 * All other waiting is done by workflows, by timers, signals and retries, which take no place. With one place for
 * activities, everything still comes to its end.
 */
export const WAITING_QUEUE = 'waiting'
