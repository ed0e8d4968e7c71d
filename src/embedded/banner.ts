import path from 'node:path'
import type { Sandbox } from './sandbox.ts'

/** What `npm start -- --json` prints, on one line. */
export function sandboxJson({ variables, demo }: Sandbox): string {
  return JSON.stringify({
    api: variables.API_URL,
    console: consoleUrl(variables.API_URL, demo.key),
    key: demo.key,
    partner_id: demo.partnerId,
    temporal_ui: variables.TEMPORAL_UI_URL ?? null,
    temporal_address: variables.TEMPORAL_ADDRESS,
    temporal_namespace: variables.TEMPORAL_NAMESPACE,
    database_url: variables.DATABASE_URL,
  })
}

/** The console takes the key from the fragment, which browsers send to nobody, and removes it from the address. */
const consoleUrl = (api = '', key: string) => `${api.replace(/\/v1$/, '')}/console#key=${key}`

/** What runs where, and what to try next. */
export function banner({ variables, demo, webhooksTo, dataDirectory, postgresData }: Sandbox): string {
  const { API_URL: api, TEMPORAL_NAMESPACE: namespace, TEMPORAL_UI_URL: ui } = variables
  const data = path.relative('.', dataDirectory)
  const places = {
    API: api,
    Temporal: variables.TEMPORAL_ADDRESS,
    'Temporal Web UI': ui ?? 'that of your server',
    PostgreSQL: variables.DATABASE_URL,
    ...(postgresData && { 'Its data': postgresData }),
    Emails: variables.SMTP_CATCHER ? `one file each in ${data}/mail/` : 'sent through SMTP_URL',
    Logs: `${data}/api.log, ${data}/worker.log`,
    'Demo partner': `id ${demo.partnerId}; its key is below`,
    'Its endpoint':
      webhooksTo === demo.endpointUrl
        ? `${webhooksTo}: verifies webhooks and lists them below`
        : `${webhooksTo}, which you set: webhooks are not listed below`,
  }
  const lead = { first_name: 'Ada', last_name: 'Miller', email: 'ada@example.com', phone: '+1 555-0100' }
  return `Console: ${consoleUrl(api, demo.key)}

Partner Referral Service: the sandbox is ready.

${Object.entries(places)
  .map(([what, where]) => `  ${what.padEnd(16)} ${where}`)
  .join('\n')}

Try it in another terminal:

  export API=${api}
  export KEY=${demo.key}

  # create a lead; repeated with the same Idempotency-Key, it creates no second one
  curl $API/create-lead \\
    -H "Authorization: Service-Key $KEY" \\
    -H 'Content-Type: application/json' \\
    -H 'Idempotency-Key: loan-1' \\
    -d '${JSON.stringify({ ...lead, partner_lead_id: 'LOAN-1' })}'

  # its borrower signs the contract: 1 is the lead_id of the answer
  curl $API/sandbox/simulate-event \\
    -H "Authorization: Service-Key $KEY" \\
    -H 'Content-Type: application/json' \\
    -d '{"lead_id":1,"event_name":"contract_signed"}'

  # look at it in the Temporal Web UI: ${ui ?? '<your Web UI>'}/namespaces/${namespace}/workflows/lead-1

Ctrl-C stops everything and keeps the data. To start over without it: npm start -- --fresh
`
}
