/** Series of processes that are well, as promtool writes them: a value, and how often it is repeated, once a minute. */
const well: Record<string, string> = {
  'up{job="referrals-api",instance="api-1"}': '1x180',
  'up{job="referrals-api",instance="api-2"}': '1x180',
  'up{job="referrals-worker",instance="worker-1"}': '1x180',
  'referrals_worker_ready{job="referrals-worker",instance="worker-1"}': '1x180',
  'referrals_worker_ready{job="referrals-worker",instance="worker-2"}': '1x180',
  'referrals_temporal_up{job="referrals-worker",instance="worker-1"}': '1x180',
  'referrals_temporal_up{job="referrals-api",instance="api-1"}': '1x180',
  'referrals_database_up{job="referrals-api",instance="api-1"}': '1x180',
  'referrals_database_up{job="referrals-worker",instance="worker-1"}': '1x180',
  'referrals_database_clock_difference_seconds{instance="api-1"}': '0.01x180',
  'http_request_duration_seconds_count{status="200"}': '0+600x180',
  'http_request_duration_seconds_count{status="500"}': '0+1x180',
  'http_request_duration_seconds_bucket{le="2"}': '0+600x180',
  'http_request_duration_seconds_bucket{le="5"}': '0+600x180',
  'http_request_duration_seconds_bucket{le="+Inf"}': '0+600x180',
  http_connections_refused_total: '0x180',
  referrals_lead_oldest_unstarted_seconds: '2x180',
  'referrals_activity_failures_total{activity="notify"}': '0x10 1x170',
  referrals_delivery_oldest_due_seconds: '200x180',
  'referrals_schedule_last_end_timestamp_seconds{schedule="comparison",instance="worker-1"}': '0+60x180',
}

export interface RuleCase {
  name: string
  /** What is not well, by the series that differ; an empty one is missing. */
  differs: Record<string, string>
  /** Which alerts fire, at which minute; at the earlier minute, none does yet. */
  fires: string[]
  atMinutes: number
  notYetAtMinutes?: number
}

const ready = (worker: number) => `referrals_worker_ready{job="referrals-worker",instance="worker-${worker}"}`

export const ruleCases: RuleCase[] = [
  { name: 'all is well', differs: {}, fires: [], atMinutes: 170 },
  {
    name: 'one worker of two, and one API process of two, are gone',
    differs: { [ready(2)]: '1x9 stale', 'up{job="referrals-api",instance="api-2"}': '1x9 0x170' },
    fires: [],
    atMinutes: 170,
  },
  {
    name: 'all workers are gone',
    differs: {
      'up{job="referrals-worker",instance="worker-1"}': '1x9 0x170',
      [ready(1)]: '1x9 stale',
      [ready(2)]: '1x9 stale',
      'referrals_temporal_up{job="referrals-worker",instance="worker-1"}': '1x9 stale',
      'referrals_database_up{job="referrals-worker",instance="worker-1"}': '1x9 stale',
      referrals_delivery_oldest_due_seconds: '3x9 stale',
    },
    fires: ['NoWorkerWorks'],
    notYetAtMinutes: 11,
    atMinutes: 40,
  },
  {
    name: 'no worker’s version is current',
    differs: { [ready(1)]: '1x9 0x170', [ready(2)]: '1x9 0x170' },
    fires: ['NoWorkerWorks'],
    notYetAtMinutes: 11,
    atMinutes: 15,
  },
  {
    name: 'all API processes are gone',
    differs: {
      'up{job="referrals-api",instance="api-1"}': '1x9 0x170',
      'up{job="referrals-api",instance="api-2"}': '1x9 0x170',
    },
    fires: ['NoApiRuns'],
    notYetAtMinutes: 10,
    atMinutes: 12,
  },
  {
    name: 'PostgreSQL is away',
    differs: {
      'referrals_database_up{job="referrals-api",instance="api-1"}': '1x9 0x170',
      'referrals_database_up{job="referrals-worker",instance="worker-1"}': '1x9 0x170',
      referrals_delivery_oldest_due_seconds: '3x9 stale',
      'http_request_duration_seconds_count{status="503"}': '0x9 0+600x170',
    },
    fires: ['ApiFails', 'PostgresIsAway'],
    notYetAtMinutes: 9,
    atMinutes: 12,
  },
  {
    name: 'Temporal is away',
    differs: {
      'referrals_temporal_up{job="referrals-api",instance="api-1"}': '1x9 0x170',
      'referrals_temporal_up{job="referrals-worker",instance="worker-1"}': '1x9 0x170',
      [ready(1)]: '1x9 0x170',
      [ready(2)]: '1x9 0x170',
      referrals_lead_oldest_unstarted_seconds: '2x9 0+60x170',
    },
    fires: ['TemporalIsAway', 'WorkIsLate'],
    notYetAtMinutes: 10,
    atMinutes: 22,
  },
  {
    name: 'a clock is a minute behind',
    differs: { 'referrals_database_clock_difference_seconds{instance="api-1"}': '0.01x9 -61x170' },
    fires: ['ClockIsWrong'],
    notYetAtMinutes: 14,
    atMinutes: 17,
  },
  {
    name: 'a release answers 500 to one request of fifty',
    differs: { 'http_request_duration_seconds_count{status="500"}': '0x9 0+12x170' },
    fires: ['ApiFails'],
    notYetAtMinutes: 9,
    atMinutes: 15,
  },
  {
    name: 'one of twenty requests in an hour gets 500',
    differs: {
      'http_request_duration_seconds_count{status="200"}': '0x9 0+1x20 20x150',
      'http_request_duration_seconds_count{status="500"}': '0x20 1x160',
    },
    fires: [],
    atMinutes: 22,
  },
  {
    name: 'a partner has its sink answer 500',
    differs: {
      'http_request_duration_seconds_count{status="500",route="/v1/sandbox/sinks/:token"}': '0x9 0+60x170',
    },
    fires: [],
    atMinutes: 22,
  },
  {
    name: 'connections are refused',
    differs: { http_connections_refused_total: '0x9 5x170' },
    fires: ['ApiFails'],
    notYetAtMinutes: 9,
    atMinutes: 11,
  },
  {
    name: 'the API takes three seconds',
    differs: { 'http_request_duration_seconds_bucket{le="2"}': '0+60x180' },
    fires: ['ApiIsSlow'],
    notYetAtMinutes: 9,
    atMinutes: 15,
  },
  {
    name: 'list-events waits for events, as it is asked to',
    differs: {
      'http_request_duration_seconds_bucket{route="/v1/list-events",le="5"}': '0x180',
      'http_request_duration_seconds_bucket{route="/v1/list-events",le="+Inf"}': '0+600x180',
    },
    fires: [],
    atMinutes: 30,
  },
  {
    name: 'workflows fail',
    differs: { temporal_workflow_task_execution_failed_total: '0x9 1x9 2x9 3x9 4x143' },
    fires: ['WorkflowsFail'],
    notYetAtMinutes: 20,
    atMinutes: 30,
  },
  {
    name: 'the mail server refuses the only email, tried with longer and longer waits',
    // after 0, 10, 30, 70, 150, 310, 630, 1270 and 2550 seconds, then once an hour
    differs: {
      'referrals_activity_failures_total{activity="sendOnboarding"}':
        '0x9 3 4 5x2 6x5 7x10 8x20 9x59 10x60 11x20',
    },
    fires: ['WorkFails'],
    notYetAtMinutes: 80,
    atMinutes: 170,
  },
  {
    name: 'activities fail for ten minutes, while PostgreSQL fails over',
    differs: { 'referrals_activity_failures_total{activity="recordMilestones"}': '0x9 0+100x10 1000x160' },
    fires: [],
    atMinutes: 100,
  },
  {
    name: 'workers do not keep up',
    differs: { referrals_delivery_oldest_due_seconds: '0x9 301x170' },
    fires: ['WorkIsLate'],
    notYetAtMinutes: 13,
    atMinutes: 17,
  },
  {
    name: 'no comparison ends',
    differs: {
      'referrals_schedule_last_end_timestamp_seconds{schedule="comparison",instance="worker-1"}':
        '0+60x9 540x170',
    },
    fires: ['ScheduleIsLate'],
    notYetAtMinutes: 28,
    atMinutes: 32,
  },
  {
    name: 'what waits cannot be read',
    differs: { referrals_delivery_oldest_due_seconds: '3x9 stale' },
    fires: ['WorkIsLate'],
    notYetAtMinutes: 13,
    atMinutes: 17,
  },
]

/** The case as promtool reads it. */
export function toTest({ name, differs, fires, atMinutes, notYetAtMinutes }: RuleCase) {
  const firing = (minute: number, alerts: string[]) => ({
    expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: `${minute}m`,
    exp_samples: alerts.toSorted().map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
  })
  return {
    name,
    interval: '1m',
    input_series: Object.entries({ ...well, ...differs }).map(([series, values]) => ({ series, values })),
    promql_expr_test: [
      ...(notYetAtMinutes === undefined ? [] : [firing(notYetAtMinutes, [])]),
      firing(atMinutes, fires),
    ],
  }
}
