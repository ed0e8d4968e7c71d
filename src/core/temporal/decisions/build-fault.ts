/** Requests to endpoints, and how many were accepted. */
export interface Attempts {
  made: number
  delivered: number
}

/** What Prometheus says of a build, beside the others. */
export interface MeasuredBuild {
  /** Alerts that fire, of severity `page`. */
  pages: readonly string[]
  /** Activities that failed on it, and on no other build. */
  activities: readonly string[]
  attempts: Attempts
  attemptsOfOthers: Attempts
}

export interface BuildFigures {
  /** Workflows whose task fails on it. */
  failing: { workflows: number; example: string; failure: string } | undefined
  /** Without a Prometheus, nothing is known of it. */
  measured: MeasuredBuild | undefined
}

/** Fewer attempts say little. */
const TELLING = 20
/** Endpoints refuse some webhooks of every build. */
const MARGIN = 0.1

/** Why a build must be taken back, in one line; `undefined` if nothing says so. */
export function buildFault({ failing, measured }: BuildFigures): string | undefined {
  if (failing !== undefined)
    return `the task of ${failing.workflows} ${failing.workflows === 1 ? 'workflow' : 'workflows'} fails on it, of ${failing.example} for example: ${failing.failure}`
  if (measured === undefined) return undefined
  const { pages, activities, attempts, attemptsOfOthers } = measured
  if (pages.length > 0) return `alerts fire: ${pages.join(', ')}`
  if (activities.length > 0) return `activities fail on it, and on no other build: ${activities.join(', ')}`
  // the only build, or a quiet hour
  if (attempts.made < TELLING || attemptsOfOthers.made < TELLING) return undefined
  const [own, others] = [acceptedOf(attempts), acceptedOf(attemptsOfOthers)]
  if (own >= others - MARGIN) return undefined
  return `endpoints accept ${percent(own)} of its webhooks, and ${percent(others)} of those of other builds`
}

const acceptedOf = ({ made, delivered }: Attempts) => delivered / made
const percent = (share: number) => `${Math.round(share * 100)} %`
