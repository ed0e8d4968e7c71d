import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { readConfig } from '../../src/config.ts'
import { type StaffContext, openContext } from '../../src/staff/context.ts'
import { temporalSettings } from '../../src/temporal/client.ts'
import { atEnd } from '../support/at-end.ts'

const root = path.join(import.meta.dirname, '../..')

/** Runs the command as `npm run staff` does, in `cwd`. */
export async function staff(environment: Record<string, string>, args: string[], cwd = root) {
  const child = spawn(process.execPath, [path.join(root, 'src/staff.ts'), ...args], {
    cwd,
    env: { PATH: process.env.PATH, STAFF_NAME: 'tester', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'exit') as Promise<[number]>,
    text(child.stdout),
    text(child.stderr),
  ])
  return { code, stdout, stderr }
}

/** The context that the commands work with, for calling them as functions. */
export async function contextOf(environment: Record<string, string>): Promise<StaffContext> {
  const context = await openContext(readConfig('staff', {}, environment), temporalSettings(environment), {
    name: 'tester',
    osUser: 'test',
    host: 'localhost',
  })
  atEnd(context.close)
  return context
}

/** An environment with a database and nothing else: Temporal is away. */
export function withoutTemporal(databaseUrl: string): Record<string, string> {
  return {
    ENVIRONMENT: 'sandbox',
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
  }
}

/** What staff did, as the audit has it; `began` is the line that one says the end of. */
export function auditOf({ sql }: Pick<StaffContext, 'sql'>) {
  return sql
    .selectFrom('audit')
    .leftJoin('audit as begun', 'begun.id', 'audit.begun_id')
    .select([
      'audit.actor',
      'audit.action',
      'audit.outcome',
      'audit.partner_id',
      'audit.lead_id',
      'audit.detail',
    ])
    .select('begun.outcome as began')
    .orderBy('audit.id')
    .execute()
}
