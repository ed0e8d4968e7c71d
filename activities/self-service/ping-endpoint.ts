import { signingSecrets } from '../../src/core/endpoints/statements/secrets.ts'
import type { Sql } from '../../src/core/database/sql.ts'
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

/** Makes a test request, signed with every live secret. `null` if the endpoint has no URL. */
export function pingEndpointActivity({ sql, environment, send, encryptionKeys }: Dependencies) {
  return async (endpointId: number): Promise<PingOutcome | null> => {
    const { url, partner_id: partnerId } = await sql
      .selectFrom('endpoints')
      .select(['url', 'partner_id'])
      .where('id', '=', endpointId)
      .executeTakeFirstOrThrow()
    if (url === null) return null
    const secrets = await signingSecrets(sql, endpointId, encryptionKeys)
    return sendPing({ url, partnerId, environment, secrets }, send)
  }
}
