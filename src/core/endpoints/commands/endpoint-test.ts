import { findEndpoint } from '../statements/endpoint.ts'
import { signingSecrets } from '../statements/secrets.ts'
import { sendPing } from '../../deliveries/webhooks/ping.ts'
import { createSender } from '../../deliveries/webhooks/send.ts'
import { fields } from '../../../staff/answer.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { withoutUrl } from './endpoint-pause.ts'
import { requirePartner } from '../../partners/commands/require-partner.ts'

/** Sends a signed request that is no event. Only the audit records it. */
export async function test(context: StaffContext, partner: number) {
  await requirePartner(context.sql, partner)
  const endpoint = await findEndpoint(context.sql, partner)
  if (!endpoint?.url) throw withoutUrl(partner)
  const { id: endpointId, url } = endpoint
  const secrets = await signingSecrets(context.sql, endpointId, await context.openingKeys())
  const outcome = await context.act({ action: 'endpoint.test', partnerId: partner }, async () => {
    const result = await send(context, { url, partnerId: partner, secrets })
    return { result, detail: { webhook_id: result.webhook_id, ok: result.ok, status: result.status } }
  })
  const { webhook_id: id, ok, status, duration_ms: durationMs, error_code: errorCode } = outcome
  const hint = outcome.hint && outcome.hint + orAllowIt(context, errorCode)
  return {
    json: { partner_id: partner, url, ...outcome, hint },
    text: [
      ok ? 'The endpoint accepted the test request.' : 'The endpoint did not accept the test request.',
      fields({ URL: url, id, status, took: `${durationMs} ms`, error: errorCode, hint }),
    ].join('\n\n'),
    failed: !ok,
  }
}

/** What else helps against a private address: the shell of staff may lack the setting that the worker has. */
export function orAllowIt({ config }: StaffContext, errorCode: string | null): string {
  if (errorCode !== 'blocked_address' || config.ENVIRONMENT !== 'sandbox') return ''
  return '; for development on one machine, set WEBHOOK_ALLOW_PRIVATE_NETWORK=true here as well as for API and worker'
}

async function send({ config }: StaffContext, to: { url: string; partnerId: number; secrets: string[] }) {
  const { ENVIRONMENT: environment, WEBHOOK_ALLOW_PRIVATE_NETWORK: allowPrivateNetwork } = config
  const sender = createSender({ environment, allowPrivateNetwork })
  try {
    return await sendPing({ ...to, environment }, sender.send)
  } finally {
    await sender.close()
  }
}
