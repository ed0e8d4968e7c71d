/** The workflow bundle: what the worker can run. */
export { referral } from './referral.ts'
export { endpoint } from './endpoint.ts'
export { resend } from './resend.ts'
export { certification } from './certification.ts'
export { endpointPing } from './certification.ts'
export { comparison, retention } from './schedules.ts'
