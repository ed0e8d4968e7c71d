import os from 'node:os'
import { Connection } from '@temporalio/client'
import { sql as raw } from 'kysely'
import { connect } from '../../src/database/orm.ts'
import { sqlOf } from '../../src/database/sql.ts'
import type { Started } from './servers.ts'

/** What a figure means nothing without. */
export async function describeMachine(servers: Started): Promise<Record<string, string>> {
  const orm = await connect(servers.databaseUrl)
  const { rows } = await raw<{ server_version: string }>`show server_version`.execute(sqlOf(orm))
  await orm.close()
  const connection = await Connection.connect({ address: servers.temporalAddress })
  const { serverVersion } = await connection.workflowService.getSystemInfo({})
  await connection.close()
  const [cpu] = os.cpus()
  return {
    date: new Date().toISOString(),
    machine: `${os.availableParallelism()} × ${cpu?.model}, ${Math.round(os.totalmem() / 2 ** 30)} GiB, ${os.platform()} ${os.release()}`,
    load: `${os.loadavg()[0]?.toFixed(1)} when it began`,
    node: process.version,
    postgresql: rows[0]?.server_version ?? '',
    temporal: `${serverVersion}${servers.isDevelopmentServer ? ', development server' : ''}`,
  }
}
