/**
 * Evaluated once for all workflows of a worker, instead of at the start of each: what only decides and keeps nothing.
 * `@temporalio/workflow`, and whatever imports it, keep what belongs to one workflow. Lists all that
 * workflows import of `src`.
 */
/* oxlint-disable import/no-unassigned-import -- to evaluate them is all */
import '@temporalio/common'
import '../src/deliveries/delivery-states.ts'
import '../src/deliveries/retry-schedule.ts'
import '../src/endpoints/endpoint-state.ts'
import '../src/leads/event-payloads.ts'
import '../src/leads/milestones.ts'
import '../src/leads/reasons.ts'
import '../src/leads/referral-state.ts'
import '../src/leads/score-dates.ts'
import '../src/sandbox/lead-clock.ts'
import '../src/sandbox/scenarios.ts'
import '../src/temporal/names.ts'
import '../src/temporal/search-attributes.ts'
import '../src/values.ts'

/**
 * The SDK makes and formats a stack for each promise in a workflow, for the Web UI's _Call Stack_, at a fifth of the
 * processor time. Without a number here, V8 captures none, of errors neither; a limit of 0 would still have each one
 * formatted. Preloaded modules run before the SDK freezes `Error`.
 */
delete (Error as { stackTraceLimit?: number }).stackTraceLimit
