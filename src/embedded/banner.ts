import path from 'node:path'
import type { Sandbox } from './sandbox.ts'

/** What `npm start -- --json` prints, on one line. */
export function sandboxJson({ variables, demo }: Sandbox): string {
  return JSON.stringify({
    api: variables.API_URL,
    console: consoleUrl(variables.API_URL, demo.key),
    key: demo.key,
    partner_id: demo.partnerId,
    temporal_ui: variables.TEMPORAL_UI_URL || null,
    temporal_address: variables.TEMPORAL_ADDRESS,
    temporal_namespace: variables.TEMPORAL_NAMESPACE,
    database_url: variables.DATABASE_URL,
  })
}

/** The console takes the key from the fragment, which browsers send to nobody, and removes it from the address. */
const consoleUrl = (api = '', key: string) => `${api.replace(/\/v1$/, '')}/console#key=${key}`

/** What runs where, and what to try next. */
export function banner({ variables, demo, dataDirectory }: Sandbox): string {
  const { API_URL: api, TEMPORAL_NAMESPACE: namespace, TEMPORAL_UI_URL: ui } = variables
  const data = path.relative('.', dataDirectory)
  return `Console: ${consoleUrl(api, demo.key)}

Partner Referral Service: the sandbox is ready.

  API              ${api}
  Temporal         ${variables.TEMPORAL_ADDRESS}
  Temporal Web UI  ${ui || 'that of your server'}
  PostgreSQL       ${variables.DATABASE_URL}
  Emails           one file each in ${data}/mail/
  Logs             ${data}/api.log, ${data}/worker.log
  Demo partner     id ${demo.partnerId}; its key is below
  Its endpoint     ${demo.endpointUrl}: verifies webhooks and lists them below

Try it in another terminal:

  export API=${api} KEY=${demo.key}
  post() { curl "$API/$1" -H "Authorization: Service-Key $KEY" -H 'Content-Type: application/json' -d "$2"; }

  post create-lead '{"first_name":"Ada","last_name":"Miller","email":"ada@example.com","phone":"+1 555-0100"}'
  post sandbox/simulate-event '{"lead_id":1,"event_name":"contract_signed"}'

Look at it in the Temporal Web UI: ${ui || '<your Web UI>'}/namespaces/${namespace}/workflows/lead-1

Ctrl-C stops everything and keeps the data. To start over without it: npm start -- --fresh
`
}
