import { defineSignal } from '@temporalio/workflow'

/** The endpoint's record has changed, for example by a resume: look at it now. */
export const lookSignal = defineSignal('look')
/** Probe a paused endpoint now. */
export const probeSignal = defineSignal('probe')
