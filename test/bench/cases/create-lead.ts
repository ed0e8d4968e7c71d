import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import { type Deployment, deploy } from '../deployment.ts'
import { LEAD } from '../lead.ts'
import { type Bench, compareLoad } from '../load/load.ts'
import { startReceiver } from '../receiver.ts'
import type { Row } from '../rows.ts'

/** Where nobody listens. */
const NOWHERE = '127.0.0.1:1'
/** How long the workflows that were started may take to send what they have to, and the worker to start no further one. */
const SETTLE_MS = 20_000
/** Without a start, the worker has none left: it starts a page of leads one after the other, also those closed since it read it. */
const QUIET = raw`clock_timestamp() - interval '1500 milliseconds'`

/**
 * Creating leads, each side in a database of its own: with Temporal up, where the worker starts and runs the
 * workflows on the same cores meanwhile, and with Temporal away.
 */
export async function createLead(bench: Bench): Promise<Row[]> {
  const { servers } = bench
  const receiver = await startReceiver()
  const [floor, up, down] = [
    await deploy(servers),
    await deploy(servers, receiver.url),
    await deploy(servers),
  ]
  const [floorApi, upApi, downApi, worker] = await Promise.all([
    floor.startFloorApi(),
    up.startApi(),
    down.startApi({ TEMPORAL_ADDRESS: NOWHERE }),
    up.startWorker(),
  ])
  const seen: Backlog[] = []
  const settle = async () => void seen.push(await dropBacklog(up))
  const rows = await compareLoad(bench, 'create-lead', {
    floor: { api: floorApi, path: '/create-lead' },
    services: {
      ', Temporal up': { api: upApi, path: '/v1/create-lead', headers: up.headers, settle },
      ', Temporal down': { api: downApi, path: '/v1/create-lead', headers: down.headers },
    },
    bodies: Array.from({ length: 1000 }, (_, n) => JSON.stringify({ ...LEAD, partner_lead_id: `LOAN-${n}` })),
  })
  await Promise.all([floorApi, upApi, downApi, worker].map((one) => one.stop()))
  await Promise.all([floor, up, down].map((one) => one.close()))
  receiver.close()
  return [...rows, ...aside(seen)]
}

interface Backlog {
  created: number
  started: number
  seconds: number
}

/** Counts what was started meanwhile and closes the rest, so that it does not burden what comes next. */
async function dropBacklog({ sql }: Deployment): Promise<Backlog> {
  const { rows } = await raw<Backlog>`
    select count(*)::int as created, count(workflow_started_at)::int as started,
      extract(epoch from max(created_at) - min(created_at))::float as seconds
    from leads where close_reason is null`.execute(sql)
  await raw`update leads set closed_at = now(), close_reason = 'mistake' where workflow_started_at is null
    and closed_at is null`.execute(sql)
  for (const end = Date.now() + SETTLE_MS; Date.now() < end; await delay(100)) {
    const busy = await raw`select where
      exists (select from deliveries join leads on leads.id = lead_id
        where state = 'pending' and close_reason is null)
      or exists (select from leads where workflow_started_at > ${QUIET})`.execute(sql)
    if (busy.rows.length === 0) break
  }
  await raw`update leads set closed_at = now(), close_reason = 'other' where closed_at is null`.execute(sql)
  return rows[0] ?? { created: 0, started: 0, seconds: 1 }
}

/** Apart from the creates: how many workflows were started in the same seconds, and how many were not. */
function aside(seen: Backlog[]): Row[] {
  const flatOut = seen.slice(1, 5)
  return [
    {
      work: 'create-lead, workflows started meanwhile',
      unit: '/s',
      floor: [],
      service: flatOut.map(({ started, seconds }) => started / seconds),
    },
    {
      work: 'create-lead, backlog after 1.5 s flat out',
      unit: 'leads',
      floor: [],
      service: flatOut.map(({ created, started }) => created - started),
    },
  ]
}
