import { randomBytes } from 'node:crypto'
import { Client, Connection } from '@temporalio/client'
import { requireDeployment } from '../../src/database/deployment.ts'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { lackingKeys, sealing } from '../../src/seal.ts'
import { issueKey } from '../../src/partners/keys.ts'
import { connect } from '../../src/database/orm.ts'
import { type Sql, sqlOf } from '../../src/database/sql.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { createReferrals } from '../../src/leads/referrals.ts'
import { ensureSearchAttributes } from '../../src/temporal/search-attributes.ts'
import { generateSecret } from '../../src/webhooks/signature.ts'
import { atEnd } from './at-end.ts'
import { freshDatabase } from './database.ts'
import { registerNamespace } from './namespace.ts'
import { putEndpoints } from './endpoint-states.ts'
import { type PartnerEndpoint, startPartnerEndpoint } from './partner-endpoint.ts'
import { startApiHere, startWorkerHere } from './in-process.ts'
import { startProcess } from './processes.ts'

/** A Temporal server that shares two cores with other tests may take longer than the limit that people get. */
const CALL_LIMIT_MS = 30_000

const LEAD = { first_name: 'Ada', last_name: 'Miller', email: 'ada@example.com', phone: '+1 555-0100' }

/** Where a service is. */
export interface ServiceFacts {
  environment: Record<string, string> & Record<Setting, string>
  ownerUrl: string
}

type Setting = 'DATABASE_URL' | 'TEMPORAL_ADDRESS' | 'TEMPORAL_NAMESPACE' | 'ENCRYPTION_KEY'

/**
 * The service on real parts, apart from every other test file's: a database, a Temporal namespace, and
 * an API and workers that are started when the test wants them.
 */
export async function prepareService(overrides: Record<string, string> = {}) {
  const { DATABASE_URL: given } = overrides
  const temporalAddress = overrides.TEMPORAL_ADDRESS ?? process.env.TEST_TEMPORAL_ADDRESS ?? ''
  const namespace = `test-${randomBytes(6).toString('hex')}`
  const [database] = await Promise.all([
    given === undefined ? freshDatabase() : undefined,
    makeNamespace(temporalAddress, namespace),
  ])
  // after all that is connected to it
  atEnd(async () => database?.drop())
  const environment = {
    ENVIRONMENT: 'sandbox',
    PORT: '0',
    DATABASE_URL: database?.serviceUrl ?? '',
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    DRAIN_SECONDS: '0',
    ...overrides,
  }
  const service = await joinService({ environment, ownerUrl: given ?? database?.url ?? '' })
  // as migrate does: a record has its first epoch before anything is written
  if (given === undefined) await requireDeployment(service.sql, environmentOf(environment.ENVIRONMENT))
  return service
}

/** What a test works with: connections of its own, an API and workers that end with it. */
export async function joinService({ environment, ownerUrl }: ServiceFacts) {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, ENCRYPTION_KEY: key } = environment
  const [orm, connection] = await Promise.all([connect(ownerUrl), Connection.connect({ address })])
  atEnd(async () => void (await Promise.all([orm.close(), connection.close()])))
  const sql = sqlOf(orm)
  const encryptionKey = Buffer.from(key, 'base64')
  const client = new Client({ connection, namespace })
  return {
    environment,
    encryptionKeys: [encryptionKey],
    ownerUrl,
    sql,
    client,
    namespace,
    referrals: createReferrals({ client, sql, callLimitMs: CALL_LIMIT_MS }),
    startApi: (settings: Record<string, string> = {}) => startApiHere({ ...environment, ...settings }),
    startWorker: (settings: Record<string, string> = {}) => startWorkerHere({ ...environment, ...settings }),
    /** For what only a process can have: signals, its end, its whole output. */
    startApiProcess: (settings: Record<string, string> = {}) =>
      startProcess('src/server.ts', { ...environment, ...settings }),
    startWorkerProcess: (settings: Record<string, string> = {}) =>
      startProcess('src/worker.ts', { ...environment, ...settings }),
    addPartner: () => addPartnerWithEndpoint(sql, encryptionKey),
  }
}

const environmentOf = (name: string) => (name === 'production' ? 'production' : 'sandbox')

async function makeNamespace(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address })
  await registerNamespace(connection, namespace)
  await ensureSearchAttributes(connection, namespace)
  await connection.close()
}

export type Service = Awaited<ReturnType<typeof joinService>>

export interface TestPartner {
  id: number
  key: string
  endpoint: PartnerEndpoint
}

/** A partner with a key, whose endpoint is up. */
export async function addPartnerWithEndpoint(sql: Sql, encryptionKey: Buffer): Promise<TestPartner> {
  const { id } = await addPartner(sql, { name: 'First Lender' })
  const { key } = await issueKey(sql, id, 'sandbox')
  const endpoint = await startPartnerEndpoint()
  endpoint.secret = generateSecret()
  // as the process that stores its secret
  await lackingKeys(sql, [encryptionKey])
  const secret = sealing(endpoint.secret, [encryptionKey])
  await switchAsStaff(sql, id, { url: endpoint.url, secret })
  // nothing waits yet, so no lead is to be woken
  await putEndpoints(sql, 'active', { partnerId: id })
  return { id, key, endpoint }
}

/** As much of the API's answers as tests read. */
interface ApiAnswer {
  success: boolean
  lead_id: number
  data: { status: string; next_probe_at: string | null; next_attempt_at: string | null } & {
    event_name: string
  }[]
}

/** Calls the API as a partner does; answers status and body. */
export function partnerCalls(port: number | undefined, key: string) {
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Service-Key ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as ApiAnswer }
  }
  return {
    post,
    createLead: async (fields: object = {}): Promise<number> => {
      const { status, body } = await post('create-lead', { ...LEAD, ...fields })
      // here, not where the test waits for what never comes
      if (status !== 200) throw new Error(`create-lead answered ${JSON.stringify(body)}`)
      return body.lead_id
    },
  }
}
