import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterEach, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { readTemporal } from '../../src/config.ts'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { connect, sqlOf } from '../../src/core/database/orm.ts'
import { isRunning, type ProcessIdentity } from '../../src/embedded/processes.ts'
import { postgresFolder } from '../../src/embedded/data-directory.ts'
import { anyPort } from '../support/any-port.ts'
import { atEnd } from '../support/at-end.ts'
import { freshDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { preload } from '../support/processes.ts'
import { partnerCalls } from '../support/service.ts'
import { until } from '../support/until.ts'

const folder = realpathSync(temporaryFolder())
const dataDirectory = path.join(folder, '.data')
const root = path.join(import.meta.dirname, '../..')
let latest: ChildProcess

atEnd(async () => rmSync(postgresFolder(dataDirectory), { recursive: true, force: true }))
afterEach(() => end(latest, 'SIGTERM'))

/** `npm start`, but for npm, which would run it in the project's own folder. */
function start(args: string[], variables = {}) {
  const env = { ...process.env, DATABASE_URL: '', TEMPORAL_ADDRESS: '', ...variables }
  latest = spawn(process.execPath, [...preload, path.join(root, 'src/start.ts'), ...args], {
    cwd: folder,
    env,
  })
  const child = latest
  const lines: string[] = []
  const errors: string[] = []
  const stdout = createInterface({ input: child.stdout! }).on('line', (line) => lines.push(line))
  createInterface({ input: child.stderr! }).on('line', (line) => errors.push(line))
  return { child, stdout, lines, errors }
}

async function ready(variables = {}) {
  const { child, stdout, lines, errors } = start(['--json'], variables)
  const failed = once(child, 'close').then(() => {
    throw new Error(errors.join('\n'))
  })
  const [line] = (await Promise.race([once(stdout, 'line'), failed])) as [string]
  failed.catch(() => undefined)
  return { child, lines, errors, sandbox: JSON.parse(line) as Record<string, unknown> }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill(signal)
    await once(child, 'exit')
  }
  return child.exitCode
}

interface Recorded {
  processes: (ProcessIdentity & { name: string })[]
  environment: Record<string, string>
}

interface View {
  url: string
  secret: string
  certification: { state: string }
}

/** A line of webhooks.jsonl. */
interface Received {
  body: string
  headers: Record<string, string>
}

const runFile = (): Recorded => JSON.parse(readFileSync(path.join(dataDirectory, 'run.json'), 'utf8'))
const recorded = () => runFile().processes

test('runs everything, refuses a second start, survives being killed and stops what was left', async () => {
  const first = await ready({ ERASURE_JOURNAL: 'journal' })
  expect(first.sandbox).toEqual({
    api: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    console: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/console#key=prs_test_/),
    key: expect.stringMatching(/^prs_test_/),
    partner_id: 1,
    temporal_ui: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    temporal_address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    temporal_namespace: 'default',
    database_url: expect.stringMatching(/^postgresql:/),
  })
  const authorization = `Service-Key ${String(first.sandbox.key)}`
  const ping = (api: unknown) => fetch(`${String(api)}/ping`, { headers: { authorization } })
  expect((await ping(first.sandbox.api)).status).toBe(200)
  expect((await fetch(String(first.sandbox.temporal_ui))).status).toBe(200)

  expect(runFile().environment).toMatchObject({
    SMTP_URL: expect.stringMatching(/^smtp:\/\/127\.0\.0\.1:/),
    SMTP_CATCHER: 'true',
    ERASURE_JOURNAL: path.join(folder, 'journal'),
    // the first start may take long to make the database
    STARTUP_SECONDS: '3600',
  })

  const second = start([])
  await once(second.child, 'close')
  expect(second.child.exitCode).toBe(1)
  expect(second.errors).toEqual([expect.stringContaining(`already running at ${String(first.sandbox.api)}`)])

  const left = recorded()
  await end(first.child, 'SIGKILL')
  const third = await ready()
  expect(left.filter(isRunning)).toEqual([])
  expect(third.sandbox).toMatchObject({ key: first.sandbox.key, partner_id: 1 })
  expect((await ping(third.sandbox.api)).status).toBe(200)

  const running = recorded()
  expect(running.filter(isRunning)).toHaveLength(4)
  expect(await end(third.child, 'SIGTERM')).toBe(0)
  expect(running.filter(isRunning)).toEqual([])
  expect(existsSync(path.join(dataDirectory, 'run.json'))).toBe(false)
  expect(third.lines).toHaveLength(1)
}, 90_000)

test('deletes nothing, and says why, when npm has kept --fresh', async () => {
  const { child, errors } = start([], { npm_config_fresh: 'true' })
  await once(child, 'close')
  expect(child.exitCode).toBe(1)
  expect(errors).toEqual([expect.stringContaining('Use npm start -- --fresh.')])
})

test('has a demo endpoint that passes certification, and verifies with its new secret; stops everything when a process of its own is killed, and says how to go on', async () => {
  const metricsPort = await anyPort()
  const { sandbox, child, errors } = await ready({ METRICS_PORT: String(metricsPort) })
  for (const [port, metric] of [
    [metricsPort, 'http_request_duration_seconds'],
    [metricsPort + 1, 'referrals_worker_ready'],
  ] as const)
    expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toContain(metric)
  const calls = partnerCalls(Number(new URL(String(sandbox.api)).port), String(sandbox.key))
  const post = async (route: string, body: object = {}) =>
    (await calls.post(route, body)).body.data as object as View
  const { url } = await post('get-endpoint')
  const { secret } = await post('set-endpoint', { url })
  await post('certify-endpoint')
  const { certification } = await until(async () => {
    const view = await post('get-endpoint')
    return view.certification.state !== 'running' && view
  })
  expect(certification).toMatchObject({ url, state: 'passed' })

  const leadId = await calls.createLead()
  const received = await until(async () =>
    readFileSync(path.join(dataDirectory, 'webhooks.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Received)
      .find(({ body }) => body.includes(`"lead_id":${leadId},`)),
  )
  expect(received).not.toHaveProperty('problem')
  expect(new Webhook(secret).verify(received.body, received.headers)).toMatchObject({ type: 'lead_received' })

  const running = recorded()
  process.kill(running.find(({ name }) => name === 'worker')?.pid ?? 0, 'SIGKILL')
  await once(child, 'close')
  expect(child.exitCode).toBe(1)
  expect(errors.slice(-2)).toEqual([
    expect.stringMatching(/^worker has ended: it was ended by SIGKILL /),
    'Everything else is being stopped. Nothing is lost: npm start continues where it was.',
  ])
  expect(running.filter(isRunning)).toEqual([])
}, 60_000)

test('takes no notice of variables that are for deployments, for other servers or for other tools', async () => {
  const elsewhere = {
    HOST: '0.0.0.0',
    TRUST_PROXY: '10.0.0.1',
    TLS_CERT_FILE: '/nowhere/cert.pem',
    PGSSLMODE: 'require',
    TEMPORAL_API_KEY: 'of-a-cloud',
    TEMPORAL_TLS: 'true',
    TEMPORAL_NAMESPACE: 'of-a-cloud',
  }
  const { sandbox } = await ready(elsewhere)
  const port = Number(new URL(String(sandbox.api)).port)
  expect(await partnerCalls(port, String(sandbox.key)).createLead()).toBeGreaterThan(0)

  const { environment } = runFile()
  // as the staff command reads it
  const { connectionOptions } = readTemporal(undefined, { ...elsewhere, ...environment })
  const { address, apiKey, tls = false } = connectionOptions
  expect({ address, apiKey, tls }).toEqual({
    address: sandbox.temporal_address,
    apiKey: undefined,
    tls: false,
  })
  const command = [...preload, path.join(root, 'src/temporal-command.ts'), 'workflow', 'count']
  const { stdout } = await promisify(execFile)(process.execPath, command, {
    cwd: folder,
    env: { ...process.env, ...elsewhere, TEMPORAL_ADDRESS: '' },
  })
  expect(stdout).toMatch(/^Total: \d+/)
}, 60_000)

test('uses running servers that the environment names, and starts none', async () => {
  const { url } = await freshDatabase()
  const { TEST_TEMPORAL_ADDRESS: address } = process.env
  const namespace = `given-${randomBytes(4).toString('hex')}`
  const given = {
    DATABASE_URL: url,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    // a relay, for all we know
    SMTP_URL: 'smtp://127.0.0.1:1',
  }
  const { sandbox } = await ready(given)
  expect(sandbox).toMatchObject({
    database_url: url,
    temporal_address: address,
    temporal_namespace: namespace,
  })
  expect(runFile().environment).toMatchObject({ SMTP_URL: given.SMTP_URL })
  expect(runFile().environment).not.toHaveProperty('SMTP_CATCHER')
  expect(
    recorded()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(['API', 'worker'])
  await end(latest, 'SIGTERM')

  const another = start([], { ...given, DATABASE_URL: (await freshDatabase()).url })
  await once(another.child, 'close')
  expect(another.errors.join()).toMatch(
    new RegExp(`namespace ${namespace} belongs to another deployment .*--take-over`),
  )
})

test('refuses the database of a production, and workflows in .data/ that are of another database', async () => {
  const { url } = await freshDatabase()
  const orm = await connect(url)
  await requireDeployment(sqlOf(orm), 'production')
  await orm.close()
  const production = start([], { DATABASE_URL: url })
  await once(production.child, 'close')
  expect(production.errors.join()).toMatch(/belongs to a production deployment, and ENVIRONMENT is sandbox/)

  const own = start([], { DATABASE_URL: (await freshDatabase()).url })
  await once(own.child, 'close')
  expect(own.errors.join()).toMatch(
    /workflows in \.data\/ are those of another database.*npm start -- --fresh/,
  )
})

test('stops in the middle of starting, too', async () => {
  const { child } = start(['--json'])
  const processes = await until(
    async () => existsSync(path.join(dataDirectory, 'run.json')) && recorded()[0] && recorded(),
  )
  expect(await end(child, 'SIGINT')).toBe(0)
  expect(processes.filter(isRunning)).toEqual([])
})

test.each([
  [['--frehs'], {}, /'--frehs'.*npm start -- --help/],
  [[], { PORT: 'abc' }, /PORT/],
  [[], { ENVIRONMENT: 'production' }, /^npm start is the sandbox, and ENVIRONMENT is production/],
  [[], { TEMPORAL_CLI_PATH: '/nowhere' }, /\/nowhere is not Temporal CLI 1\.5\.1/],
])('says on one line what is wrong with %j and %j', async (args, variables, line) => {
  const { child, errors } = start(args, variables)
  await once(child, 'close')
  expect(child.exitCode).toBe(1)
  // somebody else may use the default port
  const faults = errors.filter((error) => !error.startsWith('Port 3000 is in use: '))
  expect(faults).toEqual([expect.stringMatching(line)])
})

test('refuses a PORT that is in use, instead of taking another', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const { child, errors } = start([], { PORT: String(port) })
  await once(child, 'close')
  other.close()
  expect(child.exitCode).toBe(1)
  expect(errors).toEqual([
    `PORT is ${port}, which is in use: free it, set another, or unset PORT to use the next free one.`,
  ])
})

test('tells an old Node what to do', () => {
  const old = "Object.defineProperty(process.versions, 'node', { value: '20.11.0' })"
  const { status, stderr } = spawnSync(process.execPath, ['-e', `${old}; require('./src/preload.cjs')`], {
    cwd: root,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^Node 22\.18 .*20\.11\.0.*npm ci.*\n$/),
  })
})
