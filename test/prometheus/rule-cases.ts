/** Series of processes that are well, as promtool writes them: a value, and how often it is repeated, once a minute. */
const well: Record<string, string> = {
  'up{job="referrals-api",instance="api-1"}': '1x180',
  'up{job="referrals-api",instance="api-2"}': '1x180',
  'up{job="referrals-worker",instance="worker-1"}': '1x180',
  'up{job="referrals-worker",instance="worker-2"}': '1x180',
  'referrals_build_info{job="referrals-api",instance="api-1",build="a"}': '1x180',
  'referrals_build_info{job="referrals-worker",instance="worker-1",build="a"}': '1x180',
  'process_start_time_seconds{job="referrals-worker",instance="worker-1"}': '100x180',
  'referrals_worker_ready{job="referrals-worker",instance="worker-1"}': '1x180',
  'referrals_temporal_up{job="referrals-worker",instance="worker-1"}': '1x180',
  'referrals_temporal_up{job="referrals-api",instance="api-1"}': '1x180',
  'referrals_api_database_up{instance="api-1"}': '1x180',
  'referrals_worker_database_up{instance="worker-1"}': '1x180',
  'referrals_deliveries_due{instance="worker-1"}': '3x180',
  'referrals_loop_last_end_timestamp_seconds{loop="sweep",instance="worker-1"}': '0+60x180',
  'referrals_loop_pause_seconds{loop="sweep",instance="worker-1"}': '1x180',
  'nodejs_eventloop_lag_max_seconds{job="referrals-api",instance="api-1"}': '0.02x50 3 0.02x129',
  'referrals_database_connections_waiting{instance="api-1"}': '0x180',
  'referrals_database_clock_difference_seconds{instance="api-1"}': '0.01x180',
  'referrals_certificate_days_left{certificate="api",instance="api-1"}': '80x180',
  'http_request_duration_seconds_count{status="200"}': '0+600x180',
  'http_request_duration_seconds_count{status="500"}': '0+1x180',
  'http_request_duration_seconds_bucket{le="2"}': '0+600x180',
  'http_request_duration_seconds_bucket{le="5"}': '0+600x180',
  'http_request_duration_seconds_bucket{le="+Inf"}': '0+600x180',
  http_connections_refused_total: '0x180',
  referrals_lead_oldest_unstarted_seconds: '2x180',
  'referrals_activity_failures_total{activity="notify"}': '0x10 1x170',
  'referrals_scores_total{outcome="failed"}': '0x10 1x170',
  'referrals_mails_total{outcome="refused"}': '0x10 1x170',
  'referrals_scores_total{outcome="received"}': '0x180',
  'referrals_mails_total{outcome="sent"}': '0x180',
  referrals_delivery_oldest_due_seconds: '200x180',
  referrals_delivery_oldest_undelivered_seconds: '500x180',
  'referrals_endpoint_notices_total{kind="paused"}': '4x180',
  'referrals_endpoint_notices_total{kind="paused_by_staff"}': '0+1x180',
  'referrals_endpoint_notices_total{kind="given_up"}': '4x180',
  referrals_webhook_secrets_unreadable_total: '0x180',
  referrals_retention_held: '0x180',
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

const up = (job: 'api' | 'worker', number: number) => `up{job="referrals-${job}",instance="${job}-${number}"}`

export const ruleCases: RuleCase[] = [
  { name: 'all is well', differs: {}, fires: [], atMinutes: 170 },
  {
    name: 'one worker of two is gone',
    differs: { [up('worker', 2)]: '1x9 0x170' },
    fires: ['WorkerIsGone'],
    notYetAtMinutes: 12,
    atMinutes: 15,
  },
  {
    name: 'all workers are gone',
    differs: {
      [up('worker', 1)]: '1x9 0x170',
      [up('worker', 2)]: '1x9 0x170',
      'referrals_deliveries_due{instance="worker-1"}': '3x9 stale',
      'referrals_worker_database_up{instance="worker-1"}': '1x9 stale',
      'referrals_worker_ready{job="referrals-worker",instance="worker-1"}': '1x9 stale',
      'referrals_temporal_up{job="referrals-worker",instance="worker-1"}': '1x9 stale',
      'referrals_loop_last_end_timestamp_seconds{loop="sweep",instance="worker-1"}': '0+60x9 stale',
    },
    fires: ['NoWorkerRuns'],
    notYetAtMinutes: 10,
    atMinutes: 30,
  },
  {
    name: 'one API process of two is gone',
    differs: { [up('api', 2)]: '1x9 0x170' },
    fires: ['ApiIsGone'],
    notYetAtMinutes: 12,
    atMinutes: 15,
  },
  {
    name: 'all API processes are gone',
    differs: { [up('api', 1)]: '1x9 0x170', [up('api', 2)]: '1x9 0x170' },
    fires: ['NoApiRuns'],
    notYetAtMinutes: 10,
    atMinutes: 12,
  },
  {
    name: 'a worker restarts every two minutes',
    differs: {
      'process_start_time_seconds{job="referrals-worker",instance="worker-1"}':
        '100x10 200 200 300 300 400x100',
    },
    fires: ['ProcessRestarts'],
    notYetAtMinutes: 12,
    atMinutes: 16,
  },
  {
    name: 'a rollout does not end',
    differs: {
      'referrals_build_info{job="referrals-worker",instance="worker-1",build="a"}': '1x9 stale',
      'referrals_build_info{job="referrals-worker",instance="worker-1",build="b"}': '_x10 1x170',
    },
    fires: ['BuildsDiffer'],
    notYetAtMinutes: 38,
    atMinutes: 42,
  },
  {
    name: 'a worker’s version is not current',
    differs: { 'referrals_worker_ready{job="referrals-worker",instance="worker-1"}': '1x9 0x170' },
    fires: ['WorkerGetsNoWork'],
    notYetAtMinutes: 14,
    atMinutes: 17,
  },
  {
    name: 'the workers of another build wait while it is rolled out',
    differs: {
      'referrals_build_info{job="referrals-worker",instance="worker-2",build="b"}': '_x10 1x170',
      'referrals_worker_ready{job="referrals-worker",instance="worker-2"}': '_x10 0x170',
      'referrals_temporal_up{job="referrals-worker",instance="worker-2"}': '1x180',
    },
    fires: [],
    atMinutes: 38,
  },
  {
    name: 'a loop stops',
    differs: {
      'referrals_loop_last_end_timestamp_seconds{loop="sweep",instance="worker-1"}': '0+60x9 540x170',
    },
    fires: ['LoopHasStopped'],
    notYetAtMinutes: 18,
    atMinutes: 22,
  },
  {
    name: 'an event loop is blocked',
    differs: { 'nodejs_eventloop_lag_max_seconds{job="referrals-api",instance="api-1"}': '0.01x9 2x170' },
    fires: ['EventLoopIsBlocked'],
    notYetAtMinutes: 18,
    atMinutes: 22,
  },
  {
    name: 'PostgreSQL is away',
    differs: {
      'referrals_api_database_up{instance="api-1"}': '1x9 0x170',
      'referrals_worker_database_up{instance="worker-1"}': '1x9 0x170',
      'referrals_deliveries_due{instance="worker-1"}': '3x9 stale',
      'http_request_duration_seconds_count{status="503"}': '0x9 0+600x170',
    },
    fires: ['ApiCannotUsePostgres', 'ApiFails', 'WorkerCannotUsePostgres'],
    notYetAtMinutes: 9,
    atMinutes: 12,
  },
  {
    name: 'Temporal is away',
    differs: {
      'referrals_temporal_up{job="referrals-api",instance="api-1"}': '1x9 0x170',
      'referrals_temporal_up{job="referrals-worker",instance="worker-1"}': '1x9 0x170',
      'referrals_worker_ready{job="referrals-worker",instance="worker-1"}': '1x9 0x170',
      referrals_lead_oldest_unstarted_seconds: '2x9 0+60x170',
    },
    fires: ['LeadsGetNoWorkflow', 'TemporalIsAway'],
    notYetAtMinutes: 10,
    atMinutes: 18,
  },
  {
    name: 'what waits cannot be read',
    differs: { 'referrals_deliveries_due{instance="worker-1"}': '3x9 stale' },
    fires: ['BacklogIsUnknown'],
    notYetAtMinutes: 14,
    atMinutes: 17,
  },
  {
    name: 'all connections are in use',
    differs: { 'referrals_database_connections_waiting{instance="api-1"}': '0x9 4x170' },
    fires: ['ConnectionsAreUsedUp'],
    notYetAtMinutes: 17,
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
    name: 'a certificate ends in a week',
    differs: { 'referrals_certificate_days_left{certificate="api",instance="api-1"}': '7x180' },
    fires: ['CertificateEnds'],
    atMinutes: 2,
  },
  {
    name: 'a key ends tomorrow, and is in use for an hour',
    differs: { referrals_api_key_days_left: '1x180' },
    fires: ['KeyEnds'],
    notYetAtMinutes: 58,
    atMinutes: 62,
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
    name: 'connections are refused',
    differs: { http_connections_refused_total: '0x9 5x170' },
    fires: ['ApiHasTooManyConnections'],
    notYetAtMinutes: 9,
    atMinutes: 11,
  },
  {
    name: 'workflows fail',
    differs: { temporal_workflow_task_execution_failed_total: '0x9 1x9 2x9 3x9 4x143' },
    fires: ['WorkflowsFail'],
    notYetAtMinutes: 20,
    atMinutes: 30,
  },
  {
    name: 'an activity fails for half an hour',
    differs: { 'referrals_activity_failures_total{activity="notify"}': '0x9 0+3x30 90x140' },
    fires: ['ActivitiesFail'],
    notYetAtMinutes: 22,
    atMinutes: 30,
  },
  {
    name: 'the score provider fails for half an hour',
    differs: { 'referrals_scores_total{outcome="failed"}': '0x9 0+3x30 90x140' },
    fires: ['ScoresAreMissing'],
    notYetAtMinutes: 22,
    atMinutes: 30,
  },
  {
    name: 'the mail server refuses for half an hour',
    differs: { 'referrals_mails_total{outcome="refused"}': '0x9 0+3x30 90x140' },
    fires: ['MailsAreRefused'],
    notYetAtMinutes: 22,
    atMinutes: 30,
  },
  ...[30, 170].map((atMinutes) => ({
    name: `the mail server refuses the only email, tried with longer and longer waits, after ${atMinutes} minutes`,
    // after 0, 10, 30, 70, 150, 310, 630, 1270 and 2550 seconds, then once an hour
    differs: {
      'referrals_mails_total{outcome="refused"}': '0x9 3 4 5x2 6x5 7x10 8x20 9x59 10x60 11x20',
    },
    fires: ['MailsAreRefused'],
    atMinutes,
  })),
  {
    name: 'the only score update fails, after hours',
    differs: {
      'referrals_scores_total{outcome="failed"}': '0x9 3 4 5x2 6x5 7x10 8x20 9x59 10x60 11x20',
    },
    fires: ['ScoresAreMissing'],
    atMinutes: 170,
  },
  {
    name: 'workers do not keep up',
    differs: { referrals_delivery_oldest_due_seconds: '0x9 301x170' },
    fires: ['WebhooksAreLate'],
    notYetAtMinutes: 18,
    atMinutes: 22,
  },
  {
    name: 'an endpoint is dead for 41 minutes',
    differs: { referrals_delivery_oldest_undelivered_seconds: '1x9 0+60x41 1x120' },
    fires: ['EndpointTakesNoWebhooks'],
    notYetAtMinutes: 22,
    atMinutes: 27,
  },
  {
    name: 'an endpoint is paused',
    differs: { 'referrals_endpoint_notices_total{kind="paused"}': '4x9 5x170' },
    fires: ['EndpointPausedOrWebhookGivenUp'],
    notYetAtMinutes: 9,
    atMinutes: 12,
  },
  {
    name: 'a secret cannot be decrypted',
    differs: { referrals_webhook_secrets_unreadable_total: '0x9 1x170' },
    fires: ['WebhookCannotBeSigned'],
    notYetAtMinutes: 9,
    atMinutes: 12,
  },
  {
    name: 'retention is held',
    differs: { referrals_retention_held: '0x9 1x170' },
    fires: ['RetentionHasStopped'],
    notYetAtMinutes: 14,
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
