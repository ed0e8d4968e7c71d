import { v7 as uuidv7 } from 'uuid'
import { findEndpoint, liveSecrets } from '../db/endpoints/endpoint.ts'
import { createSender } from '../webhooks/send.ts'
import { decryptSecret } from '../webhooks/secrets.ts'
import { signedHeaders } from '../webhooks/signature.ts'
import { type Answer, fields } from './answer.ts'
import type { StaffContext } from './context.ts'
import { requirePartner } from './partner.ts'
import { Refusal } from './refusal.ts'

/** Sends a webhook that is no event: signed and sent like one, and recorded nowhere but in the audit. */
export async function test(context: StaffContext, partner: number): Promise<Answer> {
  await requirePartner(context.sql, partner)
  const endpoint = await findEndpoint(context.sql, partner)
  if (endpoint === undefined || endpoint.url === null) {
    throw new Refusal(`Partner ${partner} has no endpoint yet: "endpoint set ${partner} URL".`)
  }
  const stored = await liveSecrets(context.sql, endpoint.id)
  const secrets = stored.map(({ ciphertext }) => decryptSecret(ciphertext, context.config.ENCRYPTION_KEY))
  const { url } = endpoint
  const { id, ...outcome } = await context.act({ action: 'endpoint.test', partnerId: partner }, async () => {
    const result = await sendTest(context, { url, partner, secrets })
    return { result, detail: { webhook_id: result.id, ok: result.ok, status: result.status } }
  })
  const { ok, status, durationMs, errorCode, hint } = outcome
  return {
    json: {
      partner_id: partner,
      url,
      webhook_id: id,
      ok,
      status,
      duration_ms: durationMs,
      address: outcome.address,
      error_code: errorCode,
      hint,
    },
    text: [
      ok ? 'The endpoint took the test webhook.' : 'The endpoint did not take the test webhook.',
      fields({ URL: url, id, status, took: `${durationMs} ms`, error: errorCode, hint }),
    ].join('\n\n'),
    ...(!ok && { failed: true }),
  }
}

async function sendTest(
  { config }: StaffContext,
  { url, partner, secrets }: { url: string; partner: number; secrets: string[] },
) {
  const { ENVIRONMENT: environment, WEBHOOK_ALLOW_PRIVATE_NETWORK: allowPrivateNetwork } = config
  const id = `test_${uuidv7()}`
  const at = new Date()
  const body = JSON.stringify({
    type: 'endpoint_test',
    timestamp: `${at.toISOString().slice(0, 19)}Z`,
    data: { partner_id: partner, environment },
  })
  const sender = createSender({ environment, allowPrivateNetwork })
  try {
    return { id, ...(await sender.send({ url, body, headers: signedHeaders({ id, body, at, secrets }) })) }
  } finally {
    await sender.close()
  }
}
