/** The workflow bundle: what the worker can run. */
export { referral } from './referral.ts'
export { endpoint } from './endpoint.ts'
export { resend } from './resend.ts'
export { certification } from './self-service/certification.ts'
export { endpointPing } from './self-service/endpoint-ping.ts'
export { comparison, retention } from './schedules.ts'
