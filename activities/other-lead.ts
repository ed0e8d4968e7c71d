import { ApplicationFailure } from '@temporalio/activity'
import { OTHER_LEAD } from '../src/core/leads/decisions/referral.ts'

/** Of an activity: the record does not have the lead for which its workflow was started, which then ends. */
export const otherLead = () =>
  ApplicationFailure.nonRetryable('the record does not have this workflow’s lead', OTHER_LEAD)
