import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { setEndpoint } from '../../src/endpoints/switch-endpoint.ts'
import { putEndpoints } from '../support/endpoint-states.ts'
import { issueKey } from '../../src/partners/keys.ts'
import { migrate } from '../../src/database/schema.ts'
import { connect } from '../../src/database/orm.ts'
import { type Sql, sqlOf } from '../../src/database/sql.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { ensureSearchAttributes } from '../../src/temporal/search-attributes.ts'
import { type SealAt, sealing } from '../../src/seal.ts'
import { generateSecret } from '../../src/webhooks/signature.ts'
import { registerNamespace } from '../support/namespace.ts'
import { createDatabase, withDatabase } from '../support/template-database.ts'
import type { Started } from './servers.ts'

/** A database and a namespace of one's own, with a partner whose endpoint is at `webhookUrl`. */
export async function deploy(servers: Started, webhookUrl?: string) {
  const name = `bench_${randomBytes(4).toString('hex')}`
  await createDatabase(servers.databaseUrl, name)
  const databaseUrl = withDatabase(servers.databaseUrl, name)
  const orm = await connect(databaseUrl)
  await migrate(orm)
  const sql = sqlOf(orm)
  const connection = await Connection.connect({ address: servers.temporalAddress })
  await registerNamespace(connection, name)
  await ensureSearchAttributes(connection, name)
  const encryptionKey = randomBytes(32)
  const partner = await addPartner(orm.em.fork(), { name: 'First Lender' })
  const { key } = await issueKey(orm.em.fork(), partner.id, 'sandbox')
  const secret = generateSecret()
  const encryptionKeys = [encryptionKey]
  if (webhookUrl !== undefined) await setActive(sql, webhookUrl, sealing(secret, encryptionKeys))
  const temporal = { TEMPORAL_ADDRESS: servers.temporalAddress, TEMPORAL_NAMESPACE: name }
  const environment = {
    ENVIRONMENT: 'sandbox',
    PORT: '0',
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY: encryptionKey.toString('base64'),
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'info',
    // as npm start and a deployment have it
    WORKER_WORKFLOW_TASKS: servers.isDevelopmentServer ? '6' : '20',
    ...temporal,
  }
  const garbage = path.join(import.meta.dirname, 'garbage.ts')
  const counted = { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --require ${garbage}` }
  const source = (file: string) => path.join(import.meta.dirname, '../../src', file)
  const floor = (file: string) => path.join(import.meta.dirname, 'floors', file)
  const of = (what: string) => `${name}-${what}`
  return {
    sql,
    orm,
    encryptionKeys,
    secret,
    client: new Client({ connection, namespace: name }),
    headers: { authorization: `Service-Key ${key}` },
    startApi: (variables = {}) =>
      servers.start(of('api'), source('server.ts'), { ...environment, ...variables }),
    startWorker: (variables = {}) =>
      servers.start(of('worker'), source('worker.ts'), { ...environment, ...variables, ...counted }),
    startFloorApi: () =>
      servers.start(of('floor-api'), floor('api.ts'), { DATABASE_URL: databaseUrl, POOL_SIZE: '20' }),
    startFloorWorker: () =>
      servers.start(of('floor-worker'), floor('worker.ts'), { ...temporal, ...counted }),
    close: () => Promise.all([orm.close(), connection.close()]),
  }
}

export type Deployment = Awaited<ReturnType<typeof deploy>>

/** Nothing waits yet, so no lead is to be woken first. */
async function setActive(sql: Sql, url: string, secret: SealAt): Promise<void> {
  await setEndpoint(sql, 1, { url, secret })
  await putEndpoints(sql, 'active')
}
