import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../database/columns.ts'

/** A workflow whose task fails again and again: nothing happens to it until that ends. */
export const FailingWorkflow = defineEntity({
  name: 'FailingWorkflow',
  tableName: 'failing_workflows',
  properties: {
    workflowId: p.text().primary(),
    runId: p.text(),
    type: p.text(),
    /** What the SDK says of the task, cut off; no payloads. */
    failure: p.text(),
    /** The build of the worker on which it failed last. */
    failedOn: p.text(),
    since: instant(),
    /** When Temporal last said that it fails. */
    checkedAt: instant().defaultRaw('clock_timestamp()'),
    /** When the log said so: once it had failed for a minute. */
    toldAt: instant().nullable(),
  },
  indexes: [{ name: 'failing_workflows_checked_at_index', properties: ['checkedAt'] }],
})
