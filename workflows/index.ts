/** The workflow bundle: what the worker can run. */
export { referral } from './referral.ts'
export { advance } from './advance.ts'
export { endpoint } from './endpoint.ts'
export { replay } from './replay.ts'
export { resend } from './resend.ts'
export { certification } from './certification.ts'
export { endpointChange } from './endpoint-change.ts'
export { endpointPing } from './endpoint-ping.ts'
