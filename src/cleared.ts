import { freePlacesOfClosings } from './capabilities/closing/statements/requests.ts'
import { freePlacesOfErasures } from './capabilities/erasure/statements/requests.ts'
import { clearRuns } from './capabilities/sandbox/statements/sandbox-runs.ts'
import { removeSink } from './capabilities/sandbox/statements/sinks.ts'
import { clearRequests } from './capabilities/self-service/statements/clear-requests.ts'
import { clearChanges, clearEndpoint } from './core/endpoints/statements/clear.ts'
import { clearNotices } from './core/endpoints/statements/notices.ts'
import { forgetKeys } from './core/idempotency/statements/forget-keys.ts'
import type { Clear } from './core/partners/statements/clear.ts'

/** What is cleared when a partner begins again, in the order in which a transaction takes its locks. */
export const cleared: readonly Clear[] = [
  // what is under way; their workflows end with the leads
  clearRuns,
  forgetKeys,
  freePlacesOfErasures,
  freePlacesOfClosings,
  // it locks the endpoint for those below
  clearEndpoint,
  // before the changes that they belong to
  clearRequests,
  clearChanges,
  clearNotices,
  removeSink,
]
