import path from 'node:path'
import type { DemoPartner } from './settings.ts'

/** Everything that a newcomer can reach once the sandbox is ready. */
export interface Sandbox {
  /** With the version: `http://127.0.0.1:3000/v1`. */
  api: string
  databaseUrl: string
  temporalAddress: string
  temporalNamespace: string
  temporalUi?: string
  mailFolder?: string
  dataDirectory: string
  demo: DemoPartner
}

/** What `npm start -- --json` prints, on one line. */
export function sandboxJson({ api, demo, databaseUrl, ...sandbox }: Sandbox): string {
  return JSON.stringify({
    api,
    key: demo.key,
    partner_id: demo.partnerId,
    temporal_ui: sandbox.temporalUi ?? null,
    temporal_address: sandbox.temporalAddress,
    temporal_namespace: sandbox.temporalNamespace,
    database_url: databaseUrl,
  })
}

/** What runs where, and three commands to try next. */
export function banner(sandbox: Sandbox): string {
  const { api, databaseUrl, temporalAddress, temporalNamespace, temporalUi, demo } = sandbox
  const relative = (file: string) => path.relative('.', file)
  const logs = ['api.log', 'worker.log'].map((file) => relative(path.join(sandbox.dataDirectory, file)))
  const places = [
    ['API', api],
    ['Temporal', temporalAddress],
    ['Temporal Web UI', temporalUi ?? 'that of your server'],
    ['PostgreSQL', databaseUrl],
    ['Mails', sandbox.mailFolder ? `one file each in ${relative(sandbox.mailFolder)}/` : 'to SMTP_URL'],
    ['Logs', logs.join(', ')],
    ['Demo partner', `id ${demo.partnerId}, key ${demo.key}`],
    ['Its endpoint', `${demo.endpointUrl}: webhooks are verified and listed below`],
  ] as const
  return [
    'Partner Referral Service: the sandbox is ready.',
    '',
    ...places.map(([what, where]) => `  ${what.padEnd(16)} ${where}`),
    '',
    'To try, in another terminal:',
    '',
    '  # create a lead',
    ...createLead(api, demo.key).map((line) => `  ${line}`),
    '',
    '  # its borrower signs the contract',
    '  npm run staff -- milestone 1 contract_signed',
    '',
    '  # look at it in the Temporal Web UI',
    `  ${temporalUi ?? '<your Web UI>'}/namespaces/${temporalNamespace}/workflows/lead-1`,
    '',
    `Ctrl-C stops everything. The data stays; npm start -- --fresh begins anew.`,
    '',
  ].join('\n')
}

function createLead(api: string, key: string): string[] {
  const lead = { first_name: 'Ada', last_name: 'Miller', email: 'ada@example.com', phone: '+1 555-0100' }
  return [
    `curl ${api}/create-lead \\`,
    `  -H 'Authorization: Service-Key ${key}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify({ ...lead, partner_lead_id: 'LOAN-1' })}'`,
  ]
}
