/**
 * Where a lead's workflow is. It has four parts, each of which is in one phase:
 *
 * | Part       | Phase       | Entered from                   | By whom, and when                                        |
 * | ---------- | ----------- | ------------------------------ | -------------------------------------------------------- |
 * | `lead`     | `open`      | `open`, `closing`              | `takeRecord`: the record has not closed it               |
 * | `lead`     | `closing`   | `open`                         | `close`: an update, a cancellation, or its date has come |
 * | `lead`     | `closed`    | `open`, `closing`, `closed`    | an answer: it is closed in the record, or not in it      |
 * | `lead`     | `over`      | `closed`                       | `run`: nothing is left to record or to send              |
 * | `inbox`    | `idle`      | `recording`                    | `recordInbox`, however it ends                           |
 * | `inbox`    | `recording` | `idle`                         | `recordInbox`: milestones arrived                        |
 * | `webhooks` | `idle`      | `welcoming`, `sending`, `held` | who entered these, at the end                            |
 * | `webhooks` | `welcoming` | `idle`                         | `welcome`: the first goes with the onboarding email      |
 * | `webhooks` | `sending`   | `idle`                         | `deliverNext`: one is open                               |
 * | `webhooks` | `held`      | `idle`                         | `deliverNext`: the endpoint is paused, or not set        |
 * | `cadence`  | `waiting`   | `asking`                       | `recordDueScoreUpdate`, however it ends                  |
 * | `cadence`  | `asking`    | `waiting`                      | `recordDueScoreUpdate`: a date has come                  |
 *
 * A run begins with a lead that is `open` or `closing`, a cadence that is `waiting`, and the rest `idle`. Requests that
 * arrive meanwhile change no phase: `asked`, `recordChanged` and `wakes` remember them until their turn comes.
 */
export interface Phases {
  readonly lead: 'open' | 'closing' | 'closed' | 'over'
  readonly inbox: 'idle' | 'recording'
  readonly webhooks: 'idle' | 'welcoming' | 'sending' | 'held'
  /** Of the score updates that the timer raises. */
  readonly cadence: 'waiting' | 'asking'
}

export type Part = keyof Phases

/** From which phases each can be entered. */
const entrances: { [P in Part]: Record<Phases[P], readonly Phases[P][]> } = {
  lead: {
    open: ['open', 'closing'],
    closing: ['open'],
    closed: ['open', 'closing', 'closed'],
    over: ['closed'],
  },
  inbox: { idle: ['recording'], recording: ['idle'] },
  webhooks: {
    idle: ['welcoming', 'sending', 'held'],
    welcoming: ['idle'],
    sending: ['idle'],
    held: ['idle'],
  },
  cadence: { waiting: ['asking'], asking: ['waiting'] },
}

export function beginPhases({ closing }: { closing: boolean }): Phases {
  return { lead: closing ? 'closing' : 'open', inbox: 'idle', webhooks: 'idle', cadence: 'waiting' }
}

/**
 * Changes the phase of a part. Nothing else does.
 *
 * @throws {Error} if it cannot be entered now. Handlers ask first: an error of theirs would stop the workflow.
 */
export function enter<P extends Part>({ phases }: { phases: Phases }, part: P, phase: Phases[P]): void {
  const before = phases[part]
  if (!entrances[part][phase].includes(before))
    throw new Error(`${part}: ${phase} cannot be entered from ${before}`)
  ;(phases as { [Key in P]: Phases[Key] })[part] = phase
}
