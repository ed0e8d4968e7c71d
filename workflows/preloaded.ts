/**
 * Modules without state, evaluated once for all workflows of a worker instead of once for each: all that workflows import
 * from `src`. `@temporalio/workflow`, and every module that imports it, hold state of one workflow.
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
 * processor time. Without this number, V8 captures no stacks, not even for errors; with 0, the SDK would still format each.
 * Preloaded modules run before the SDK freezes `Error`.
 */
delete (Error as { stackTraceLimit?: number }).stackTraceLimit
