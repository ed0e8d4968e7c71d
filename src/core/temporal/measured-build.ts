import { z } from 'zod'
import type { Attempts, MeasuredBuild } from './decisions/build-fault.ts'

const CALL_LIMIT_MS = 10_000
/** The other builds’ counters have a past. */
const WINDOW = '10m'

const answer = z.object({
  data: z.object({
    result: z.array(
      z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) }),
    ),
  }),
})

/** Of our alerts: others may be in the same Prometheus. */
const SERVICE = 'partner-referral-service'

/** A Prometheus that cannot be asked, in one line. */
export class PrometheusSilent extends Error {}

/**
 * What Prometheus has of a build. Its own counters are taken as they are, from the start of its workers.
 *
 * @throws {PrometheusSilent}
 */
export async function measuredBuild(prometheus: string, build: string): Promise<MeasuredBuild> {
  const named = JSON.stringify(build)
  const own = (metric: string) => `${metric}{build=${named}}`
  const others = (metric: string) => `increase(${metric}{build!=${named}}[${WINDOW}])`
  const ask = (expression: string) => query(prometheus, expression)
  const [pages, activities, attempts, attemptsOfOthers] = await Promise.all([
    ask(`count by (alertname) (ALERTS{alertstate="firing", severity="page", service="${SERVICE}"})`),
    ask(
      `(sum by (activity) (${own('referrals_activity_failures_total')}) > 0) unless (sum by (activity) (${others('referrals_activity_failures_total')}) > 0)`,
    ),
    ask(`sum by (result) (${own('referrals_webhook_attempts_total')})`),
    ask(`sum by (result) (${others('referrals_webhook_attempts_total')})`),
  ])
  const names = (series: Series[], label: string) =>
    series.map(({ metric }) => metric[label] ?? '?').toSorted()
  return {
    pages: names(pages, 'alertname'),
    activities: names(activities, 'activity'),
    attempts: attemptsIn(attempts),
    attemptsOfOthers: attemptsIn(attemptsOfOthers),
  }
}

type Series = z.output<typeof answer>['data']['result'][number]

function attemptsIn(series: Series[]): Attempts {
  const sum = (some: Series[]) => some.reduce((total, { value: [, count] }) => total + Number(count), 0)
  return { made: sum(series), delivered: sum(series.filter(({ metric }) => metric.result === 'delivered')) }
}

async function query(prometheus: string, expression: string): Promise<Series[]> {
  const url = new URL('api/v1/query', `${prometheus.replace(/\/$/, '')}/`)
  url.searchParams.set('query', expression)
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(CALL_LIMIT_MS) })
    if (!response.ok) throw new Error(`${response.status}`)
    return answer.parse(await response.json()).data.result
  } catch (error) {
    throw new PrometheusSilent(`Prometheus does not answer at ${prometheus}`, { cause: error })
  }
}
