import { beforeAll, describe, expect, it } from '@jest/globals'
import { execFile, spawn } from 'node:child_process'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { anyPort } from '../support/any-port.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { leadsOf } from '../support/leads.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { prepareService, type Service } from '../support/service.ts'
import { makeCertificate } from '../webhooks/certificate.ts'
import { sharedService, type SharedService } from '../support/shared-service.ts'
import { startBadNetwork } from './bad-network.ts'
import { HANDLED, playGuideLender } from './guide-lender.ts'

/**
 * What of the Python client needs the service, by `npm run test:python`. `PYTHON` is one that has
 * src/clients/python/tests/requirements.txt, as .ci/run makes it.
 */
const python = process.env.PYTHON ?? 'python3'
const run = promisify(execFile)
const source = path.join(import.meta.dirname, '../../src/clients/python')
const programs = path.join(import.meta.dirname, 'python')
const readme = readFileSync(path.join(source, 'README.md'), 'utf8')
const [firstCall = '', certify = '', follow = '', receiver = '', ownTests = ''] = [
  ...readme.matchAll(/^```python\n(.*?)^```$/gms),
].map(([, code]) => code)

let folder: string
let environment: NodeJS.ProcessEnv

beforeAll(async () => {
  folder = temporaryFolder()
  // pip builds where the sources are
  cpSync(source, path.join(folder, 'source'), { recursive: true })
  const flags = ['--quiet', '--no-deps', '--no-build-isolation', '--no-index', '--target']
  await run(python, [
    '-m',
    'pip',
    'install',
    ...flags,
    path.join(folder, 'installed'),
    path.join(folder, 'source'),
  ])
  environment = { ...process.env, PYTHONPATH: path.join(folder, 'installed'), PYTHONDONTWRITEBYTECODE: '1' }
})

const as = ({ port, key }: { port: number; key: string }): NodeJS.ProcessEnv => ({
  ...environment,
  REFERRALS_KEY: key,
  REFERRALS_URL: `http://127.0.0.1:${port}/v1`,
})

describe('the Python package', () => {
  it('is installed with its types', () => {
    expect(existsSync(path.join(folder, 'installed/partner_referrals/py.typed'))).toBe(true)
  })

  it('has a README whose examples are typed, and whose test passes', async () => {
    writeFileSync(path.join(folder, 'lender.py'), [firstCall, certify, follow].join('\n'))
    writeFileSync(path.join(folder, 'test_receiver.py'), [receiver, ownTests].join('\n'))
    const strict = ['-m', 'mypy', '--strict', '--cache-dir', path.join(folder, 'mypy')]
    // the runner has FORCE_COLOR in its threads
    const env = { ...environment, MYPYPATH: path.join(folder, 'installed'), MYPY_FORCE_COLOR: '0' }
    const typed = await run(python, [...strict, 'lender.py', 'test_receiver.py'], { cwd: folder, env })
    expect(typed.stdout).toMatch(/^Success/)
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const tables =
      'create table webhooks_seen (id text primary key); create table score_updates (lead_id, points)'
    await database(`executescript("${tables}")`)
    await run(python, ['test_receiver.py'], { cwd: folder, env: { ...environment, WEBHOOK_SECRET: secret } })
    expect(await database('execute("select count(*) from score_updates").fetchone()[0]')).toBe('8\n')
  })

  /** Of the README’s receiver. */
  async function database(call: string): Promise<string> {
    const program = `import sqlite3; print(sqlite3.connect("lender.db").${call})`
    return (await run(python, ['-c', program], { cwd: folder })).stdout
  }
})

describe('the Python client, with a sandbox', () => {
  let service: SharedService
  beforeAll(async () => {
    service = await sharedService()
  })

  it('creates a lead as its README does', async () => {
    const { key } = await service.addPartner()
    writeFileSync(path.join(folder, 'first_call.py'), firstCall)
    const { stdout } = await run(python, ['first_call.py'], { cwd: folder, env: as({ ...service, key }) })
    expect(stdout).toMatch(/^\d+ None\n$/)
  })

  it('makes calls of each kind', async () => {
    const { key } = await service.addPartner()
    const { stdout } = await run(python, [path.join(programs, 'calls.py')], {
      cwd: source,
      env: as({ ...service, key }),
    })
    expect(stdout).toBe('done\n')
  })

  it('creates each lead once through a network that drops, delays and repeats, and follows each event once', async () => {
    const { id, key } = await service.addPartner()
    const options = { seed: 3, share: 0.5, lateMs: 3_300 }
    const network = await startBadNetwork(`http://127.0.0.1:${service.port}`, options)
    const env = as({ port: Number(new URL(network.url).port), key })
    const { stdout } = await run(python, [path.join(programs, 'through_network.py')], { cwd: source, env })
    const { ids, names, followed } = JSON.parse(stdout) as Record<string, (number | string)[]>
    const made = await service.sql
      .selectFrom('leads')
      .select('id')
      .where('partner_id', '=', id)
      .orderBy('id')
      .execute()
    expect(made.map((lead) => lead.id)).toEqual(ids?.toSorted((one, other) => Number(one) - Number(other)))
    expect(names).toEqual(ids?.map((_, index) => `once-${index}`))
    expect(followed?.toSorted()).toEqual(ids?.toSorted())
    // each fault had its turn
    expect(Object.values(network.count)).not.toContain(0)
  }, 90_000)

  it('is the lender of integrate.md, which handles each event of a journey once and in order', async () => {
    const options = { language: 'python', command: python, args: ['-u'], environment } as const
    expect(await playGuideLender(options)).toEqual(HANDLED)
  }, 60_000)

  it('receives webhooks with Flask as its README does, after a certification', async () => {
    const { key } = await service.addPartner()
    const cwd = temporaryFolder()
    writeFileSync(path.join(cwd, 'receiver.py'), receiver)
    const env = { ...as({ ...service, key }), RECEIVER_PORT: String(await anyPort()) }
    const { stdout } = await run(python, [path.join(programs, 'flask_receiver.py')], { cwd, env })
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('done')
  })
})

describe('what a lender copies', () => {
  const cwd = temporaryFolder()
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const heard: string[] = []
  let env: NodeJS.ProcessEnv

  beforeAll(async () => {
    cpSync(path.join(import.meta.dirname, '../../docs/examples/lender'), cwd, { recursive: true })
    const page = readFileSync('docs/webhooks.md', 'utf8')
    const [, sample = ''] = /^```python\n(import os\n.*?)^app\.run/ms.exec(page) ?? []
    writeFileSync(path.join(cwd, 'sample.py'), sample)
    const hook = createHttpServer((request, response) => {
      void text(request).then((body) => {
        heard.push((JSON.parse(body) as { type: string }).type)
        response.end()
      })
    })
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
    atEnd(async () => void hook.close())
    const HOOK_URL = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`
    const PYTHONPATH = [environment.PYTHONPATH, cwd].join(path.delimiter)
    env = { ...environment, PYTHONPATH, WEBHOOK_SECRET: secret, HOOK_URL }
  })

  it.each(['sample', 'receiver', 'relay'])('answers 4xx to all that is not genuine: %s', async (name) => {
    const { stdout } = await run(python, [path.join(programs, 'hostile.py'), name], { cwd, env })
    expect(stdout).toMatch(/^done$/m)
  })

  it('keeps one row for each event, and relays each, without the tests of the endpoint', async () => {
    const query = 'select count(*), count(distinct event_id), count(distinct name) from events'
    const read = `import sqlite3; print(sqlite3.connect("lender.db").execute("${query}").fetchone())`
    expect((await run(python, ['-c', read], { cwd })).stdout).toBe('(7, 7, 7)\n')
    expect(new Set(heard).size).toBe(7)
    expect(heard.filter((type) => type.startsWith('endpoint.'))).toEqual([])
  })

  it('imports a file with a key for each row, names the rows that are refused, and continues', async () => {
    const service = await sharedService()
    const { id, key } = await service.addPartner()
    const own = { cwd, env: { ...env, ...as({ ...service, key }) } }
    const importAll = () =>
      run(python, ['import_leads.py', 'leads.csv'], own).catch((error: unknown) => error)
    expect(await importAll()).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        `^row 2: lead \\d+\nrow 3: lead \\d+\nrow 4: Invalid request: phone may contain only .*\n$`,
      ),
    })
    const file = path.join(cwd, 'leads.csv')
    writeFileSync(file, readFileSync(file, 'utf8').replace('not given', '310 555 1214'))
    expect(await importAll()).toMatchObject({
      stdout: expect.stringMatching(/^row 4: lead \d+\n$/),
    })
    // what it remembers was lost after the answers came
    await run(
      python,
      ['-c', 'import sqlite3; sqlite3.connect("lender.db").executescript("delete from leads")'],
      own,
    )
    await importAll()
    const { length } = await service.sql
      .selectFrom('leads')
      .select('id')
      .where('partner_id', '=', id)
      .execute()
    expect(length).toBe(3)
    const { stdout } = await run(python, ['status.py'], own)
    expect(stdout.match(/LOAN-1(18|19|20)\tlead_received\topen/g)).toHaveLength(3)
  })
})

describe('the Python client, over TLS', () => {
  it('verifies who answers', async () => {
    const { cert, key } = makeCertificate({ host: 'localhost' })
    const file = path.join(folder, 'certificate.pem')
    writeFileSync(file, cert)
    const server = createServer({ cert, key }, (_, response) => {
      const time = '2026-03-02 15:04:05'
      response.end(JSON.stringify({ success: true, message: 'pong', environment: 'sandbox', time }))
    })
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
    atEnd(async () => void server.close())
    const url = `https://localhost:${(server.address() as AddressInfo).port}/v1`
    const { stdout } = await run(python, [path.join(programs, 'over_tls.py'), url, file], {
      env: environment,
    })
    const [refusal, answer] = stdout.trimEnd().split('\n')
    expect(refusal).toContain('CERTIFICATE_VERIFY_FAILED')
    expect(answer).toBe('sandbox')
  })
})

describe('the Python client, while it follows the feed', () => {
  let service: Service
  let port: number
  let api: ServiceProcess
  let key: string
  let commit: () => Promise<number>
  const start = () => service.startApiProcess({ PORT: String(port) })

  beforeAll(async () => {
    ;[service, port] = [await prepareService(), await anyPort()]
    const partner = await service.addPartner()
    key = partner.key
    ;({ commit } = leadsOf(service, partner))
    api = await start()
  })

  it('gets each event once and in order, while the API is stopped, killed and started again', async () => {
    const made: number[] = []
    const feed = lines([])
    for (const end of ['stop', 'kill'] as const) {
      made.push(await commit())
      await feed.until(made.length)
      await api[end]()
      made.push(await commit())
      api = await start()
    }
    const seen = await feed.until(made.length)
    expect(seen.map(([leadId, name]) => [Number(leadId), name])).toEqual(
      made.map((leadId) => [leadId, 'lead_received']),
    )
    const [, [, , place = ''] = []] = seen
    const rest = await lines([place]).until(made.length - 2)
    expect(rest).toEqual(seen.slice(2))
  })

  it('says where to go on when its place is not there any more', async () => {
    const [[lost, hasMore] = []] = await lines(['1-1-1-1']).until(1)
    expect([lost, hasMore]).toEqual(['lost', 'False'])
  })

  /** What follow.py writes. */
  function lines(args: string[]) {
    const child = spawn(python, [path.join(programs, 'follow.py'), ...args], {
      env: as({ port, key }),
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    atEnd(async () => {
      child.kill('SIGKILL')
      await ended
    })
    const errors: string[] = []
    child.stderr.on('data', (chunk) => errors.push(String(chunk)))
    const found: string[][] = []
    const reader = createInterface(child.stdout)
    reader.on('line', (line) => found.push(line.split(' ')))
    return {
      async until(count: number): Promise<string[][]> {
        while (found.length < count)
          await Promise.race([
            new Promise((resolve) => reader.once('line', resolve)),
            ended.then(() => {
              if (found.length < count) throw new Error(errors.join(''))
            }),
          ])
        return found
      },
    }
  }
})
