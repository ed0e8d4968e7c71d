import type { Environment } from '../../values/environment.ts'
import { milestoneNames, milestones } from '../../leads/decisions/milestones.ts'
import { DAY_MS } from '../../values/durations.ts'
import { LATE_FACTS_MS, SCORE_PERIOD_MS } from '../../leads/decisions/score-dates.ts'
import { type ErrorCode, errorCatalogue } from '../errors.ts'
import { keyedCalls } from '../../idempotency/decisions/idempotency-key.ts'
import { table } from './markdown.ts'
import { webhookGuide } from './webhook-guide.ts'

/** The guide at the top of the reference, in Markdown. What other files state as figures is taken from there. */
export const guide = (
  environment: Environment,
  codes: readonly ErrorCode[],
  setUp: readonly string[],
): string =>
  [
    introduction,
    authentication,
    environments(environment),
    idempotency,
    times,
    names,
    milestoneTable,
    paging,
    errors(codes),
    limits,
    webhookGuide(setUp),
    changes,
  ].join('\n\n')

const introduction = `Refer borrowers who were declined for credit reasons, and follow them until they are mortgage ready.

You create a **lead** for each borrower. At each milestone, the service records an **event** and sends it to your endpoint \
as a signed **webhook**. You can also read a lead and its history at any time.

Requests are \`POST\` with a JSON body, except for a few that read what is the same for everybody. Responses are JSON, with a boolean \`success\`, but for this reference as an OpenAPI document.

The interface specification has \`ping\`, \`create-lead\`, \`get-lead\`, \`get-events\` and \`update-partner-info\`. All other \
operations extend it, and refuse fields that they do not know.`

const authentication = `# Authentication

Send your API key with every request:

\`\`\`
Authorization: Service-Key <API_KEY>
\`\`\`

\`ping\` needs no key, and checks the one that you send. Our staff issue and revoke keys. Keep them out of client-side code and \
public repositories. A key that is missing, mistyped, expired, revoked, or for the other environment gets 401 \`AUTH_FAILED\`. \
You see your own leads only: another partner’s lead is \`NOT_FOUND\`.`

const environments = (environment: Environment) => `# Environments

${table(
  ['Environment', 'Keys begin with', 'For'],
  [
    [
      'sandbox',
      '`prs_test_`',
      'test data: simulate milestones, and advance the clock of a lead by days or years',
    ],
    ['production', '`prs_live_`', 'live data'],
  ],
)}

Each has a base address of its own, which ends in \`/v1\`. This reference describes the ${environment}.`

/** `a, b and c`. */
const listOf = (names: readonly string[]) => `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

const idempotency = `# Idempotency

Send an \`Idempotency-Key\` with ${listOf(keyedCalls.map((call) => `\`${call}\``))}, unique to each request. If you get no response, repeat the request with the same \
key: within 24 hours you get the first response again, with the header \`Idempotent-Replayed\`, and nothing is done twice: no second lead is created, nor does the borrower get a second email. \
The same key with another body gets 422 \`IDEMPOTENCY_CONFLICT\`. Each call has keys of its own, and refusals are not remembered. \
In a sandbox, \`simulate-event\` takes a key, too: a repeated request records nothing twice.

The response to a repeat has the same signing secret, unless it was replaced since: then you get 409 \`SECRET_REPLACED\`. Send the request with a new key.

Without the header, each \`create-lead\` creates another lead, even with the same \`partner_lead_id\`.`

const times = `# Times

Times such as \`2026-11-21 20:57:56\` are UTC, without a zone. Append \`Z\` before you parse one:

\`\`\`js
new Date('2026-11-21 20:57:56') // wrong: local time
new Date('2026-11-21 20:57:56'.replace(' ', 'T') + 'Z')
\`\`\`

\`\`\`python
datetime.fromisoformat("2026-11-21 20:57:56" + "+00:00")
\`\`\`

Only the \`timestamp\` of a webhook’s body is in ISO 8601.`

const names = `# Names

${table(
  ['Name', 'Meaning'],
  [
    ['`lead_id`, `id`', 'our identifier of a lead; both are the same'],
    [
      '`partner_lead_id`',
      'your own identifier; it does not have to be unique, and `list-leads` finds leads by it',
    ],
    ['`get-events`', 'the complete history of one lead'],
    ['`list-events`', 'the events of all your leads, to poll instead of receiving webhooks'],
    [
      '`update-partner-info`',
      'changes a lead, not your account: your identifiers, the FICO range, and any metadata of yours',
    ],
    ['`status`', 'the furthest milestone that the lead has reached; it never goes back'],
    ['`sequence`', 'counts the webhooks of a lead from 1; an event that is not sent has none'],
    [
      '`experian_gain`, `equifax_gain`, `transunion_gain`',
      'the points that this bureau’s score has gained since the `score_update` before, or, the first time, since the journey began; negative if it fell',
    ],
    [
      '`estimated_time_remaining`',
      'in how many days the borrower will probably be mortgage-ready, such as `30-60 days`',
    ],
  ],
)}`

const payloads = {
  lead_received: '`LeadReceivedPayload`, or `null` if you sent no `partner_lead_id`',
  score_update: '`ScoreGains`',
  none: '`null`',
}

const milestoneTable = `# Milestones

In the order of a journey. A lead may skip some of them.

${table(
  ['`event_name`', 'Meaning', 'Happens', 'Webhook', '`event_payload`'],
  milestoneNames.map((name) => {
    const { meaning, once, webhook, payload } = milestones[name]
    return [
      `\`${name}\``,
      meaning,
      once ? 'once' : 'repeatedly',
      webhook ? 'yes' : 'no',
      payloads[payload ?? 'none'],
    ]
  }),
)}

A \`score_update\` is sent every ${SCORE_PERIOD_MS / DAY_MS} days after \`escrow_funded\`. A lead is closed \
${LATE_FACTS_MS / DAY_MS} days after \`mortgage_ready\`, or earlier, when you or our staff close it; no events follow then.`

const errors = (codes: readonly ErrorCode[]) => `# Errors

Every error has the same body, which the reference calls \`Failure\`:

\`\`\`json
{ "success": false, "error": { "code": "NOT_FOUND", "message": "Lead not found." } }
\`\`\`

Decide by \`code\` and the HTTP status. \`message\` is for people, and may change. \`INVALID_PAYLOAD\` also has \`fields\`, a list \
of \`{ "field", "problem" }\`: the fields that are wrong. Each response has an \`X-Request-Id\`: quote it \
when you contact support.

${table(
  ['Status', '`code`', 'Default message'],
  codes.map((code) => [String(errorCatalogue[code].status), `\`${code}\``, errorCatalogue[code].message]),
)}

After 429 and 503, wait for as many seconds as \`Retry-After\` says, and repeat the request. Repeat it after 500, too, with \
growing waits. Repeat it with the same \`Idempotency-Key\`, if it had one. Other errors need another request.`

const paging = `# Paging

\`list-leads\` and \`get-deliveries\` return the newest first, 50 or as many as \`limit\` says, and a \`next\`. Send it as \`after\` to \
get older ones. On the last page, \`next\` is \`null\`.

\`list-events\` returns the oldest first, and always has a \`next\`: store it, and send it as \`after\` to get what has happened since. \
\`has_more\` says whether there is more already.`

const limits = `# Limits

In production, each partner has 600 requests a minute, unless we have agreed on more; a sandbox has no such limit. Beyond it, requests \
get 429 \`RATE_LIMITED\` with \`Retry-After\`. Two \`list-events\` requests of a key can wait for events at a time. A request’s body has \
at most 64 KiB.`

const changes = `# Versions

The version is in the path: \`/v1\`. Without a new version we may add operations, optional fields of requests, fields of \
responses and webhooks, milestones and error codes. Ignore what you do not know. Your contact gets an \
email twelve months before an operation goes.`
