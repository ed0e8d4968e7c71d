/**
 * A URL that a partner asked for, which has a signing secret of its own.
 *
 * | State       | Meaning                                                | Changes to                        |
 * | ----------- | ------------------------------------------------------ | --------------------------------- |
 * | `candidate` | to be certified; only the certification calls it       | `applied`, `canceled`, `replaced` |
 * | `applied`   | took effect                                            | –                                 |
 * | `canceled`  | staff canceled it                                      | –                                 |
 * | `replaced`  | a later one took its place                             | –                                 |
 */
export const endpointChangeStates = ['candidate', 'applied', 'canceled', 'replaced'] as const
export type EndpointChangeState = (typeof endpointChangeStates)[number]

/** For how long the previous secret also signs after a rotation. */
export const OVERLAP_HOURS = { default: 24, max: 7 * 24 }
