/** What partners change at their endpoints themselves: the URL, which has a signing secret of its own, or only the secret. */
export const endpointChangeKinds = ['url', 'secret'] as const
export type EndpointChangeKind = (typeof endpointChangeKinds)[number]

/**
 * A change that a partner asked for.
 *
 * | State       | Meaning                                                           | Changes to                                     |
 * | ----------- | ----------------------------------------------------------------- | ---------------------------------------------- |
 * | `candidate` | a URL to be certified; only the certification calls it             | `announced`, `applied`, `canceled`, `replaced` |
 * | `announced` | takes effect 24 hours after the emails about it; production only   | `applied`, `canceled`, `replaced`              |
 * | `applied`   | took effect                                                       | –                                              |
 * | `canceled`  | staff canceled it                                                 | –                                              |
 * | `replaced`  | a later change of its kind took its place                         | –                                              |
 */
export const endpointChangeStates = ['candidate', 'announced', 'applied', 'canceled', 'replaced'] as const
/** Those of a change that may still take effect. */
export const openChangeStates = ['candidate', 'announced'] as const
export type EndpointChangeState = (typeof endpointChangeStates)[number]

/** How long partner and staff have to object to an announced change. */
export const CHANGE_DELAY_HOURS = 24

/** For how long the previous secret also signs after a rotation. */
export const OVERLAP_HOURS = { default: 24, max: 7 * 24 }
