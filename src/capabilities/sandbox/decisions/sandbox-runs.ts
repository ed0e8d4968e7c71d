/** What a partner has under way in a sandbox: a scenario that plays a lead's journey, or an advance of a lead's clock. */
export const runKinds = ['scenario', 'advance'] as const
export type RunKind = (typeof runKinds)[number]

/**
 * How many of each a partner may have under way at a time. All partners share the workers: a scenario makes a year's work
 * in a second, so that a few of them are as much as one partner gets.
 */
export const MOST_RUNS: Record<RunKind, number> = { scenario: 3, advance: 10 }
