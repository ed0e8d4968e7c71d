/**
 * Evaluated once for all workflows of a worker, instead of at the start of each: what only decides and keeps nothing.
 * `@temporalio/workflow`, and whatever imports it, keep what belongs to one workflow. Lists what workflows import of the
 * core; what they import of capabilities is little.
 */
/* oxlint-disable import/no-unassigned-import -- to evaluate them is all */
import '@temporalio/common'
import '../src/core/deliveries/decisions/delivery.ts'
import '../src/core/deliveries/decisions/retry-after.ts'
import '../src/core/deliveries/decisions/retry-schedule.ts'
import '../src/core/endpoints/decisions/certification.ts'
import '../src/core/endpoints/decisions/endpoint.ts'
import '../src/core/idempotency/decisions/idempotency-key.ts'
import '../src/core/leads/decisions/ahead-text.ts'
import '../src/core/leads/decisions/clock.ts'
import '../src/core/leads/decisions/event-payloads.ts'
import '../src/core/leads/decisions/milestone-keys.ts'
import '../src/core/leads/decisions/milestones.ts'
import '../src/core/leads/decisions/reasons.ts'
import '../src/core/leads/decisions/referral.ts'
import '../src/core/leads/decisions/score-dates.ts'
import '../src/core/leads/decisions/search-attributes.ts'
import '../src/core/leads/decisions/showable-names.ts'
import '../src/core/temporal/decisions/deliveries-queue.ts'
import '../src/core/temporal/decisions/scores-queue.ts'
import '../src/core/values/durations.ts'
import '../src/core/values/request-ids.ts'
