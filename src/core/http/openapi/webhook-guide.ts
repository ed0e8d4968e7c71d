import { ENDPOINT_CAP, FAILING_AFTER, REQUEST_LIMIT_MS } from '../../deliveries/decisions/delivery.ts'
import { JITTER, PAUSE_AFTER_HOURS, RETRY_DELAYS_MS } from '../../deliveries/decisions/retry-schedule.ts'
import { CERTIFICATION_TYPE, PING_TYPE } from '../../deliveries/webhooks/service-calls.ts'
import { table } from './markdown.ts'

/** What a receiver of webhooks must know: a part of the guide. */

const UNITS = [
  ['h', 60 * 60 * 1000],
  ['min', 60 * 1000],
  ['s', 1000],
] as const

/** In its largest unit: `5 min`. */
function duration(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms % length === 0) ?? ['ms', 1]
  return `${ms / size} ${unit}`
}

const [, ...retryDelays] = RETRY_DELAYS_MS
const waits = new Intl.ListFormat('en-GB').format(retryDelays.map(duration))
const limit = duration(REQUEST_LIMIT_MS)

const introduction = `# Webhooks

A webhook is a signed \`POST\` to your endpoint. Its format is that of [Standard Webhooks](https://www.standardwebhooks.com).`

const read = `## Read the request

${table(
  ['Header', 'Meaning'],
  [
    ['`webhook-id`', 'the event’s id, the same for every attempt: handle each only once'],
    ['`webhook-timestamp`', 'when this attempt was made, in seconds since 1970'],
    [
      '`webhook-signature`',
      'one signature for each active secret, separated by spaces: one that is valid is enough',
    ],
    ['`webhook-replay`', '`true` if the webhook is sent again after it was settled; otherwise absent'],
  ],
)}

The body is a \`WebhookEvent\`. Go by its \`type\`:

\`\`\`json
{
  "type": "contract_signed",
  "timestamp": "2026-11-21T10:12:53Z",
  "data": {
    "event_id": "evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e",
    "event_name": "contract_signed",
    "event_payload": null,
    "created_at": "2026-11-21 10:12:53",
    "lead_id": 1042,
    "partner_lead_id": "LOAN-2026-118",
    "sequence": 4,
    "environment": "sandbox"
  }
}
\`\`\`

Besides the milestones there are \`${PING_TYPE}\`, the test request of \`test-endpoint\`, and \`${CERTIFICATION_TYPE}\`: these are \
not events, and have no lead. Accept and ignore types that you do not know. Webhooks have no name, email address or phone number.`

const verify = `## Verify the signature

Anyone can send requests to your URL. Verify each one, over the raw body, before you parse it. There are \
[libraries](https://github.com/standard-webhooks/standard-webhooks/tree/main/libraries) for most languages:

\`\`\`js
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET)
// throws if the request is forged, changed, or more than five minutes old: respond with 400
const event = webhook.verify(rawBody, request.headers)
\`\`\`

\`\`\`python
from standardwebhooks import Webhook

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
# raises WebhookVerificationError: respond with 400
event = webhook.verify(request.get_data(), dict(request.headers))
\`\`\`

Without a library: decode the secret after \`whsec_\` from base64. Compute the HMAC-SHA256 of \
\`{webhook-id}.{webhook-timestamp}.{raw body}\` with it, and encode it in base64. Compare it in constant time with what follows \
\`v1,\` in each signature. Refuse a timestamp that is more than five minutes from your clock.`

const respond = `## Respond and retries

${table(
  ['Your endpoint', 'We'],
  [
    [`responds with any 2xx within ${limit}`, 'count the webhook as delivered'],
    ['responds with `410 Gone`', 'pause the endpoint and hold its webhooks'],
    [
      'responds with anything else',
      'retry, not before the time in `Retry-After` (up to 24 hours); we follow no redirects',
    ],
    [`does not respond within ${limit}`, 'retry'],
  ],
)}

If handling takes longer, store the event, respond, and handle it then. The first attempt is made at once. Retries follow \
${waits} after the one before, plus up to ${JITTER * 100}%. At most ${ENDPOINT_CAP} requests to your endpoint are under way at a time.

When the last retry has failed too, the webhook is given up (\`given_up\`) if your endpoint accepted others meanwhile: the lead’s \
next webhook is sent then, and \`resend-webhook\` sends this one again. If your endpoint accepts nothing, we retry once a day.

\`get-deliveries\` lists your webhooks with each attempt, and a hint on what went wrong.`

const order = `## Repeats and order

Delivery is **at least once**: respond with 200 to a \`webhook-id\` that you have handled, and do not handle it again.

The webhooks of one lead are sent **in order**, one at a time: the next one waits until the one before is delivered or given up. \
\`sequence\` counts them from 1. It has a gap only if we have to restore our database, which we tell you by email. Webhooks of \
different leads do not wait for each other.`

const pauses = `## Pauses

We pause an endpoint that responds with \`410 Gone\`, or that has accepted nothing for ${PAUSE_AFTER_HOURS} hours. Its webhooks are held, \
and none is lost. After an hour, and then with exponential backoff up to once a day, we send the oldest one as a test. Once your \
endpoint accepts it, all others follow in order. \`resume-endpoint\` does so at once. What you paused with \`pause-endpoint\` \
stays paused until you resume it.

We email your contact when a webhook has failed ${FAILING_AFTER} times in a row, when one is given up, and when the endpoint is paused or \
works again. \`get-endpoint\` shows its health, what fails, and what to do about it.`

const poll = `## Poll instead

Without a public address, call \`list-events\`: it returns the events of all your leads in order. Store \`next\` once you have \
handled the page, and send it as \`after\` in the next request. With \`"wait": 25\`, the response comes as soon as there are \
events.`

/** @param setUp how a partner sets its endpoint up, if it can. */
export const webhookGuide = (setUp: readonly string[]) =>
  [introduction, ...setUp, read, verify, respond, order, pauses, poll].join('\n\n')
