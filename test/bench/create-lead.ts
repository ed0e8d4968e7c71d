import { sql as raw } from 'kysely'
import { eachField, requiredFields } from '../../src/leads/lead-fields.ts'
import { LEAD } from '../support/leads.ts'
import { until } from '../support/until.ts'
import { compareLoad } from './compare-load.ts'
import { type Deployment, deploy, startServers } from './servers.ts'
import type { Row } from './table.ts'

/** An address where nobody listens. */
const NOWHERE = '127.0.0.1:1'

/**
 * Creating leads, each side in a database of its own: with Temporal away, and with Temporal up, where the worker starts
 * and runs the workflows on the same cores meanwhile.
 */
export async function createLead(): Promise<Row[]> {
  const servers = await startServers()
  const [bare, down, up] = [await deploy(servers), await deploy(servers), await deploy(servers)]
  const lead = eachField(requiredFields, (name) => LEAD[name])
  const bodies = Array.from({ length: 1000 }, (_, n) =>
    JSON.stringify({ ...lead, partner_lead_id: `LOAN-${n}` }),
  )
  const floor = { api: await bare.startFloor('api'), path: '/create-lead', bodies }
  const downApi = await down.startApi({ TEMPORAL_ADDRESS: NOWHERE })
  const service = { path: '/v1/create-lead', bodies }
  const rows = await compareLoad(servers, {
    work: 'create-lead, Temporal down',
    floor,
    service: { ...service, api: downApi, key: down.partner.key },
    aim: 0.75,
  })
  await downApi.stop()
  const [upApi] = await Promise.all([up.startApi(), up.startWorker()])
  const upRows = await compareLoad(servers, {
    work: 'create-lead, Temporal up',
    floor,
    service: { ...service, api: upApi, key: up.partner.key, settle: () => dropBacklog(up) },
    aim: 0.55,
  })
  return [...rows, ...upRows]
}

/** Takes away the leads that nobody has started, and waits for the webhooks of the others: neither is to burden the next. */
async function dropBacklog({ sql }: Deployment): Promise<void> {
  await sql.transaction().execute(async (trx) => {
    // without foreign keys: a start may be under way
    await raw`set local session_replication_role = replica`.execute(trx)
    await raw`
      with lead as (delete from leads where workflow_started_at is null returning id)
      delete from deliveries using lead where lead_id = lead.id`.execute(trx)
  })
  await until(async () => {
    const pending = sql.selectFrom('deliveries').select('event_id').where('state', '=', 'pending')
    return (await pending.limit(1).executeTakeFirst()) === undefined
  })
}
