/** How much faster time passes for the rules than in a deployment: 5 minutes become 15 s. */
export const FACTOR = 20

/** The faults that are staged, each with the alerts that it fires and after how many minutes of a deployment at most. */
export const promises = {
  'a quiet hour': {},
  'one of two API processes killed': { ApiIsGone: 5 },
  'one of two workers killed': { WorkerIsGone: 5 },
  'all workers killed': { NoWorkerRuns: 3 },
  'Temporal killed': { TemporalIsAway: 3, LeadsGetNoWorkflow: 8 },
  'PostgreSQL killed': { ApiCannotUsePostgres: 3, WorkerCannotUsePostgres: 3, ApiFails: 3 },
  'no room for PostgreSQL’s tables': { ApiFails: 3 },
  'an endpoint answers 503': { EndpointTakesNoWebhooks: 18 },
  'a bad version rolled out': { WorkflowsFail: 3 },
} satisfies Record<string, Record<string, number>>

export type Fault = keyof typeof promises

/** Minutes of a deployment in milliseconds of the rehearsal. A workflow counts as failing after a minute of either. */
export const minuteMsOf = (fault: Fault) => (fault === 'a bad version rolled out' ? 60_000 : 60_000 / FACTOR)
