import type { certificationActivities } from '../../activities/self-service/certify.ts'
import type { pingEndpointActivity } from '../../activities/self-service/ping-endpoint.ts'
import { policies } from '../policies.ts'
import { interruptible } from '../proxies.ts'

export type Activities = ReturnType<typeof certificationActivities> & {
  pingEndpoint: ReturnType<typeof pingEndpointActivity>
}

export const { certify, pingEndpoint } = interruptible<Activities>(policies.call)

export const { endCertification } = interruptible<Activities>(policies.step)
