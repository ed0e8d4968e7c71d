import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { readConfig, readTemporal } from '../../src/config.ts'
import { type StaffContext, openContext } from '../../src/staff/context.ts'
import { carryOut as commandLine, staffProgram } from '../../src/staff/program.ts'
import { failureLine } from '../../src/staff/failure.ts'
import { atEnd } from '../support/at-end.ts'
import { preload } from '../support/processes.ts'

const root = path.join(import.meta.dirname, '../..')

/** Nothing listens there. */
const AWAY = '127.0.0.1:1'
const SOON_MS = 200

/** Carries out the command in this process, which is much faster than a process of its own. */
export async function staff(environment: Record<string, string>, args: string[]) {
  const written = { code: 0, stdout: '', stderr: '' }
  await commandLine(args, {
    environment: { STAFF_NAME: 'tester', ...environment },
    write: async (part) => void (written.stdout += part),
    writeError: (part) => void (written.stderr += part),
    endWith: (code) => void (written.code = code),
  })
  return written
}

/** Runs the command as `npm run staff` does, in `cwd`; unread, its reader goes away before the first byte. */
export async function staffProcess(
  environment: Record<string, string>,
  args: string[],
  { cwd = root, isRead = true },
) {
  const child = spawn(process.execPath, [...preload, path.join(root, 'src/staff.ts'), ...args], {
    cwd,
    env: { PATH: process.env.PATH, STAFF_NAME: 'tester', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (!isRead) child.stdout.destroy()
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'exit') as Promise<[number]>,
    isRead ? text(child.stdout) : '',
    text(child.stderr),
  ])
  return { code, stdout, stderr }
}

/** Parses a command line that is refused: what is written to stderr, and the error that ends it. */
export async function misuse(args: string[]): Promise<{ stderr: string; thrown: unknown }> {
  let stderr = ''
  const program = staffProgram(() => async () => {}, { writeErr: (written) => void (stderr += written) })
  const thrown = await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => error)
  return { stderr, thrown }
}

/** Carries out commands in this process, with a login or an environment of their own: the refusals, in their order. */
export async function carryOut(environment: Record<string, string>, commands: string[][]): Promise<string[]> {
  const context = await contextOf(environment)
  const refusals: string[] = []
  for (const command of commands) {
    const program = staffProgram((act) => async (...args) => {
      const answer = await act(context, ...args)
      if ('rows' in answer) for await (const row of answer.rows) JSON.stringify(row)
    })
    await program.parseAsync(command, { from: 'user' }).catch(async (error: unknown) => {
      refusals.push(failureLine(error))
    })
  }
  return refusals
}

/** The context that the commands work with, for calling them as functions. */
export async function contextOf(environment: Record<string, string>): Promise<StaffContext> {
  const config = readConfig('staff', {}, environment)
  const context = await openContext(config, readTemporal(config, environment), 'tester')
  atEnd(context.close)
  if (context.temporal.address === AWAY) hasten(context)
  return context
}

/** Gives up soon on Temporal, which does not come back during a test. */
function hasten({ client: { connection } }: StaffContext): void {
  const patient = connection.withDeadline.bind(connection)
  connection.withDeadline = (_, act) => patient(Date.now() + SOON_MS, act)
}

/** An environment with a database and nothing else: Temporal is away. */
export function withoutTemporal(databaseUrl: string): Record<string, string> {
  return {
    ENVIRONMENT: 'sandbox',
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: AWAY,
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
