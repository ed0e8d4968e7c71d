import { endpointToPing, finishPing } from '../../src/capabilities/self-service/statements/pings.ts'
import { signingSecrets } from '../../src/core/endpoints/statements/secrets.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import type { PingOutcome } from '../../src/core/endpoints/decisions/endpoint.ts'
import type { Environment } from '../../src/core/values/environment.ts'
import { sendPing } from '../../src/core/deliveries/webhooks/ping.ts'
import type { SendWebhook } from '../make-attempt.ts'

interface Dependencies {
  sql: Sql
  environment: Environment
  send: SendWebhook
  encryptionKeys: readonly Buffer[]
}

/** Makes a test request, signed with every live secret, and writes down what came of it. */
export function pingEndpointActivity({ sql, environment, send, encryptionKeys }: Dependencies) {
  return async (pingId: number): Promise<PingOutcome | null> => {
    const endpoint = await endpointToPing(sql, pingId)
    if (endpoint === undefined || endpoint.url === null) return null
    const { endpointId, partnerId, url } = endpoint
    const secrets = await signingSecrets(sql, endpointId, encryptionKeys)
    const outcome = await sendPing({ url, partnerId, environment, secrets }, send)
    await finishPing(sql, pingId, outcome)
    return outcome
  }
}
