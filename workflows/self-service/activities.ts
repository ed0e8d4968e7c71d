import type { certificationActivities } from '../../activities/self-service/certify.ts'
import type { endpointChangeActivities } from '../../activities/self-service/endpoint-changes.ts'
import type { pingEndpointActivity } from '../../activities/self-service/ping-endpoint.ts'
import { policies } from '../policies.ts'
import { interruptible } from '../proxies.ts'

export type Activities = ReturnType<typeof certificationActivities> &
  ReturnType<typeof endpointChangeActivities> & { pingEndpoint: ReturnType<typeof pingEndpointActivity> }

export const { certify, pingEndpoint } = interruptible<Activities>(policies.call)

export const { endCertification, reviewChange, applyChange } = interruptible<Activities>(policies.step)

export const { announceChange } = interruptible<Activities>(policies.announcement)
