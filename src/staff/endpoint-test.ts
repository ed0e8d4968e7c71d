import { v7 as uuidv7 } from 'uuid'
import { findEndpoint, liveSecrets } from '../db/endpoints/endpoint.ts'
import { createSender } from '../webhooks/send.ts'
import { decryptSecret } from '../webhooks/secrets.ts'
import { signedHeaders } from '../webhooks/signature.ts'
import { fields } from './answer.ts'
import type { StaffContext } from './context.ts'
import { withoutUrl } from './endpoint-pause.ts'
import { requirePartner } from './partner.ts'

/** Sends a signed webhook that is no event. Only the audit records it. */
export async function test(context: StaffContext, partner: number) {
  await requirePartner(context.sql, partner)
  const endpoint = await findEndpoint(context.sql, partner)
  if (!endpoint?.url) throw withoutUrl(partner)
  const { id: endpointId, url } = endpoint
  const stored = await liveSecrets(context.sql, endpointId)
  const secrets = stored.map(({ ciphertext }) => decryptSecret(ciphertext, context.config.ENCRYPTION_KEY))
  const outcome = await context.act({ action: 'endpoint.test', partnerId: partner }, async () => {
    const result = await sendTest(context, { url, partner, secrets })
    return { result, detail: { webhook_id: result.id, ok: result.ok, status: result.status } }
  })
  const { id, ok, status, durationMs, address, errorCode, hint } = outcome
  return {
    json: {
      partner_id: partner,
      url,
      webhook_id: id,
      ok,
      status,
      duration_ms: durationMs,
      address,
      error_code: errorCode,
      hint,
    },
    text: [
      ok ? 'The endpoint accepted the test webhook.' : 'The endpoint did not accept the test webhook.',
      fields({ URL: url, id, status, took: `${durationMs} ms`, error: errorCode, hint }),
    ].join('\n\n'),
    failed: !ok,
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
