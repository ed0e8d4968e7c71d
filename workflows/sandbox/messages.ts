import { defineUpdate } from '@temporalio/workflow'
import type { AdvanceRequest } from '../../src/capabilities/sandbox/decisions/lead-clock.ts'

/** To a lead's workflow: move its clock. Answers whether it is there; if not, the workflow `advance` moves it further. */
export const advanceUpdate = defineUpdate<{ hasArrived: boolean }, [AdvanceRequest]>('advance_clock')
