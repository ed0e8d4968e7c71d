import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { ConfigError, readConfig } from '../src/config.ts'
import { noteKey, retireKeys } from '../src/core/sealing/statements/encryption-keys.ts'
import { searchAttributes } from '../src/core/leads/decisions/search-attributes.ts'
import { switchableProxy } from './api/switchable-proxy.ts'
import { anyPort } from './support/any-port.ts'
import { atEnd } from './support/at-end.ts'
import { registerNamespace } from './support/namespace.ts'
import { runToEnd, startProcess } from './support/processes.ts'
import { prepareService, type Service } from './support/service.ts'
import { scrape } from './support/scrape.ts'
import { temporalProxy } from './support/temporal-proxy.ts'
import { tlsProxy } from './support/tls-proxy.ts'
import { until } from './support/until.ts'

const temporalAddress = process.env.TEST_TEMPORAL_ADDRESS ?? ''
const PERMISSION_DENIED = 7
const NOTHING_THERE = 'nothing listens there'

describe('a worker', () => {
  let service: Service
  const refusals: Record<string, Awaited<ReturnType<typeof runToEnd>>> = {}

  /** What is wrong with the environment, and the line that says so. */
  const faults: Record<string, { environment: () => Promise<Record<string, string>>; says: RegExp }> = {
    'Temporal does not answer': {
      environment: async () => ({ TEMPORAL_ADDRESS: `127.0.0.1:${await anyPort()}` }),
      says: /^Temporal does not answer at 127\.0\.0\.1:\d+: start it, or set TEMPORAL_ADDRESS \(.+\)$/,
    },
    'Temporal takes TLS only': {
      environment: async () => ({ TEMPORAL_ADDRESS: (await tlsProxy(temporalAddress)).address }),
      says: /^Temporal at localhost:\d+ takes TLS only: set TEMPORAL_TLS=true, or correct TEMPORAL_ADDRESS$/,
    },
    'Temporal takes no TLS': {
      environment: async () => ({ TEMPORAL_TLS: 'true' }),
      says: /^Temporal at 127\.0\.0\.1:\d+ speaks plain text, and TEMPORAL_TLS, .+: set TEMPORAL_TLS=false, or correct TEMPORAL_ADDRESS$/,
    },
    'there is no such namespace': {
      environment: async () => ({ TEMPORAL_NAMESPACE: 'no-such-namespace' }),
      says: /^Temporal’s namespace no-such-namespace cannot be used: .+[^.]\. Run npm run setup-temporal, or set TEMPORAL_NAMESPACE$/,
    },
    'the namespace lacks every search attribute': {
      environment: async () => ({
        TEMPORAL_NAMESPACE: await namespaceWithout(Object.keys(searchAttributes)),
      }),
      says: /^Temporal’s namespace test-\w+ has no search attribute LeadId, PartnerId, LeadStatus, DeliveryState, NextScoreUpdateAt, LastEventAt\. Run npm run setup-temporal, or set TEMPORAL_NAMESPACE$/,
    },
    'the namespace lacks one search attribute': {
      environment: async () => ({ TEMPORAL_NAMESPACE: await namespaceWithout(['DeliveryState']) }),
      says: /^Temporal’s namespace test-\w+ has no search attribute DeliveryState\. Run npm run setup-temporal, or set TEMPORAL_NAMESPACE$/,
    },
    'PostgreSQL does not answer': {
      environment: async () => ({
        DATABASE_URL: `postgresql://service:hidden@127.0.0.1:${await anyPort()}/referrals`,
      }),
      says: /^PostgreSQL does not answer at 127\.0\.0\.1:\d+\/referrals: start it, or set DATABASE_URL \(.+\)$/,
    },
    'PostgreSQL refuses its password': {
      environment: async () => ({ DATABASE_URL: databaseUrl({ password: 'hidden' }) }),
      says: /^PostgreSQL at \S+ does not let this role in: password authentication failed for user "\w+" \(28P01\); correct role and password in DATABASE_URL$/,
    },
    'there is no such database': {
      environment: async () => ({ DATABASE_URL: databaseUrl({ pathname: '/no-such-database' }) }),
      says: /^PostgreSQL at \S+\/no-such-database does not let this role in: database "no-such-database" does not exist \(3D000\); create the database, or correct its name in DATABASE_URL$/,
    },
    'ENCRYPTION_KEY lacks the key of what is stored': {
      environment: async () => ({ ENCRYPTION_KEY: randomBytes(32).toString('base64') }),
      says: /^ENCRYPTION_KEY lacks the key [0-9a-f]{8}, under which data is stored: add it after the current one, separated by a comma; if it is lost, run npm run staff -- encryption forget [0-9a-f]{8}$/,
    },
    'the erasure journal cannot be written': {
      environment: async () => ({ ERASURE_JOURNAL: '/dev/null/journal' }),
      says: /^The erasure journal cannot be written in \/dev\/null\/journal: correct ERASURE_JOURNAL \(.+\)$/,
    },
    'ENCRYPTION_KEY is not set': {
      environment: async () => ({ ENCRYPTION_KEY: '' }),
      says: /^Configuration: ENCRYPTION_KEY is not set\. See docs\/settings\.md\.$/,
    },
  }

  /** Those that it finds before it does anything, as it finds that ENCRYPTION_KEY is not set. */
  const mistakes: Record<string, { environment: Record<string, string>; says: RegExp }> = {
    'DATABASE_URL is not set': {
      environment: { DATABASE_URL: '' },
      says: /^Configuration: DATABASE_URL is not set\. See docs\/settings\.md\.$/,
    },
    'a production would mail in plain text': {
      environment: {
        ENVIRONMENT: 'production',
        WEBHOOK_ALLOW_PRIVATE_NETWORK: '',
        SMTP_URL: 'smtp://127.0.0.1',
        MAIL_FROM: 'us@example.com',
        MAIL_REPLY_TO: 'help@example.com',
        MAIL_FOOTER: 'Example Inc., 1 Main Street',
        SCORE_PROVIDER_URL: 'https://scores.example.com',
        STAFF_EMAIL: 'staff@service.example',
        ERASURE_JOURNAL: '/journal',
      },
      says: /^Configuration: SMTP_URL may send emails in plain text: .*set ALLOW_PLAINTEXT=smtp\. See docs\/settings\.md\.$/,
    },
    'a production has no erasure journal': {
      environment: {
        ENVIRONMENT: 'production',
        WEBHOOK_ALLOW_PRIVATE_NETWORK: '',
        SMTP_URL: 'smtps://mail.example.com',
        MAIL_FROM: 'us@example.com',
        MAIL_REPLY_TO: 'help@example.com',
        MAIL_FOOTER: 'Example Inc., 1 Main Street',
        SCORE_PROVIDER_URL: 'https://scores.example.com',
        STAFF_EMAIL: 'staff@service.example',
        ALLOW_PLAINTEXT: 'database',
      },
      says: /^Configuration: ERASURE_JOURNAL is required in production: .*\. See docs\/settings\.md\.$/,
    },
  }

  beforeAll(async () => {
    service = await prepareService()
    await service.addPartner()
    // at once, because two of them are given ten seconds to appear
    const refuse = async ([name, { environment }]: [string, (typeof faults)[string]]) => {
      refusals[name] = await runToEnd('src/worker.ts', {
        ...service.environment,
        ...(await environment()),
      })
    }
    await Promise.all(Object.entries(faults).map(refuse))
  }, 120_000)

  const databaseUrl = (changed: Partial<Pick<URL, 'password' | 'pathname'>>) =>
    Object.assign(new URL(service.environment.DATABASE_URL), changed).href

  async function namespaceWithout(missing: string[]): Promise<string> {
    const { connection } = service.client
    const namespace = `test-${randomBytes(6).toString('hex')}`
    await registerNamespace(connection, namespace)
    const { customAttributes } = await connection.operatorService.listSearchAttributes({
      namespace: service.namespace,
    })
    const wanted = Object.entries(customAttributes).filter(
      ([name]) => name in searchAttributes && !missing.includes(name),
    )
    if (wanted.length > 0) {
      await connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(wanted),
      })
    }
    return namespace
  }

  it.each(Object.keys(faults))('refuses to start with one line and exit code 1 when %s', (name) => {
    const { code, stderr } = refusals[name] ?? { code: null, stderr: NOTHING_THERE }
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(stderr.trimEnd()).toMatch(faults[name]?.says ?? /^$/)
    expect(stderr).not.toContain('hidden')
    expect(code).toBe(1)
  })

  it('asks a server that is away for as long as STARTUP_SECONDS says: with 0, once', async () => {
    let asked = 0
    const away = createServer((socket) => {
      asked++
      socket.destroy()
    })
    await once(away.listen(0, '127.0.0.1'), 'listening')
    atEnd(async () => void away.close())
    const { port } = away.address() as AddressInfo
    const environment = { ...service.environment, STARTUP_SECONDS: '0' }
    const DATABASE_URL = `postgresql://service@127.0.0.1:${port}/referrals`
    const { code } = await runToEnd('src/worker.ts', { ...environment, DATABASE_URL })
    expect({ code, asked }).toEqual({ code: 1, asked: 1 })
  })

  it.each(Object.keys(mistakes))('refuses its configuration in one line when %s', (name) => {
    const { environment = {}, says = /^$/ } = mistakes[name] ?? {}
    const read = () => readConfig('worker', {}, { ...service.environment, ...environment })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(says)
    expect(read).not.toThrow('\n')
  })

  it('does not start without a key that another process has begun to use', async () => {
    await noteKey(service.sql, '00000001')
    const refused = await runToEnd('src/worker.ts', service.environment)
    expect(refused.stderr).toContain('ENCRYPTION_KEY lacks the key 00000001')
    await retireKeys(service.sql, ['00000001'])
  })

  it('starts with more keys than it needs, logs lines of JSON, and warns of nothing but that it sends no emails', async () => {
    const keys = [service.environment.ENCRYPTION_KEY, randomBytes(32).toString('base64')]
    const worker = await service.startWorker({ ENCRYPTION_KEY: keys.join(',') })
    expect(await worker.stop()).toBe(0)
    const lines = worker.output().trim().split('\n')
    const entries = lines.map((line) => JSON.parse(line) as { level: number; msg: string })
    expect(entries.filter(({ level }) => level > 30)).toEqual([
      expect.objectContaining({ msg: 'no emails are sent: SMTP_URL is not set' }),
    ])
  })

  it('is live from its start, and ready once it polls', async () => {
    const released = Promise.withResolvers<void>()
    let isSilent = false
    let isRefused = false
    const address = await temporalProxy(service.environment.TEMPORAL_ADDRESS, async (call) => {
      if (call === 'PollWorkflowTaskQueue') await released.promise
      if (call === 'DescribeTaskQueue' && isSilent) await new Promise(() => {})
      return call === 'DescribeTaskQueue' && isRefused ? PERMISSION_DENIED : undefined
    })
    const metricsPort = await anyPort()
    const environment = {
      ...service.environment,
      TEMPORAL_ADDRESS: address,
      METRICS_PORT: `${metricsPort}`,
    }
    const ready = startProcess('src/worker.ts', environment)
    const ask = (probe: string) => fetch(`http://127.0.0.1:${metricsPort}/${probe}`).catch(() => undefined)
    const status = async (probe: string) => (await ask(probe))?.status
    const reason = async () => (await ask('readyz'))?.text()
    expect(await until(() => status('livez'))).toBe(200)
    expect(await status('readyz')).toBe(503)
    const unseen = 'not ready: Temporal answers, but this worker has not polled\n'
    expect(await until(async () => (await reason()) === unseen)).toBe(true)
    released.resolve()
    await ready
    expect(await status('readyz')).toBe(200)
    expect(await status('livez')).toBe(200)
    isRefused = true
    expect(await reason()).toBe('not ready: Temporal does not say whether this worker polls (not for you)\n')
    isSilent = true
    expect(await reason()).toBe('not ready: Temporal does not answer\n')
  })

  it('stays ready while PostgreSQL is away, and tells others that it is away', async () => {
    const proxy = await switchableProxy(new URL(service.environment.DATABASE_URL))
    atEnd(() => proxy.close())
    const { metricsPort } = await service.startWorker({ DATABASE_URL: proxy.url, METRICS_PORT: '0' })
    const probe = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${metricsPort}/${path}`)
      return `${answer.status} ${await answer.text()}`
    }
    const up = async () => (await scrape({ metricsPort })).value('referrals_worker_database_up')
    expect([await probe('healthz'), await up()]).toEqual(['200 healthy\n', 1])
    await proxy.goAway()
    expect(await probe('healthz')).toBe('503 not healthy: PostgreSQL does not answer\n')
    expect([await probe('readyz'), await up()]).toEqual(['200 ready\n', 0])
    await proxy.comeBack()
    expect([await probe('healthz'), await up()]).toEqual(['200 healthy\n', 1])
    proxy.fallSilent()
    expect(await probe('healthz')).toBe('503 not healthy: PostgreSQL does not answer\n')
  })
})
