import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { type Program, programs, readConfig, readTemporal, settingsRows } from '../src/config.ts'
import { Refusal } from '../src/fail.ts'

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64')

const database = {
  ENVIRONMENT: 'sandbox',
  DATABASE_URL: 'postgresql://service:secret@127.0.0.1:5433/referrals',
}
const sandbox = { ...database, ENCRYPTION_KEY: key(1) }
const remoteDatabase = 'postgresql://service:secret@db.example.com/referrals'
const production = {
  ...sandbox,
  ENVIRONMENT: 'production',
  DATABASE_URL: `${remoteDatabase}?sslmode=verify-full`,
  SMTP_URL: 'smtps://mail.example.com',
  MAIL_FROM: 'Referrals <no-reply@mail.example.com>',
  MAIL_REPLY_TO: 'help@example.com',
  MAIL_FOOTER: String.raw`Example Inc.\n1 Main Street`,
  SCORE_PROVIDER_URL: 'https://scores.example.com/gains',
  ERASURE_LOG: '/var/lib/erasures/erasures.jsonl',
  STAFF_EMAIL: 'staff@service.example',
  TRUST_PROXY: '127.0.0.1',
}
const hosted = { ...sandbox, HOST: '0.0.0.0' }
const STARTTLS = 'smtp://mail.example.com:587?requireTLS=true'

const refusalOf = (program: Program, environment: NodeJS.ProcessEnv): string => {
  try {
    readConfig(program, {}, environment)
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
  return 'accepted'
}

test('docs/settings.md says of each setting what it is', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../docs/settings.md'), 'utf8')
  const rows = Array.from(page.matchAll(/^\| `(.*) \|$/gm), ([row]) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
  expect(rows).toEqual(settingsRows())
  const names = Object.values(programs).flatMap(({ shape }) => Object.keys(shape))
  expect(rows.map(([name]) => name)).toEqual(
    expect.arrayContaining([...new Set(names)].map((name) => `\`${name}\``)),
  )
})

describe('values', () => {
  test.each<[Program, NodeJS.ProcessEnv]>([
    ['api', sandbox],
    ['worker', sandbox],
    ['staff', database],
    ['migrate', database],
    ['setup-temporal', database],
    ['migrate', { ...database, ENVIRONMENT: 'production' }],
    ['staff', { ...database, ENVIRONMENT: 'production', ERASURE_LOG: '/erasures.jsonl', SMTP_URL: 'no URL' }],
  ])('%s needs nothing that it does not read: %j', (program, environment) => {
    expect(refusalOf(program, environment)).toBe('accepted')
  })

  test('the environment comes before the defaults of the caller, and an empty variable counts as unset', () => {
    const environment = { ...sandbox, PORT: '2', HOST: '', LOG_LEVEL: ' ' }
    const expected = { PORT: 2, LOG_LEVEL: 'debug', HOST: '127.0.0.1' }
    expect(readConfig('api', { PORT: '1', LOG_LEVEL: 'debug' }, environment)).toMatchObject(expected)
  })

  test.each<[Program, base: NodeJS.ProcessEnv, name: string, value: string, read: unknown]>([
    ['api', sandbox, 'PORT', '0 ', 0],
    ['worker', hosted, 'WEBHOOK_ALLOW_PRIVATE_NETWORK', 'false', false],
    ['worker', production, 'RETENTION_LEADS_DAYS', '', 730],
    ['worker', production, 'MAIL_FOOTER', String.raw`Example Inc.\n1 Main St`, 'Example Inc.\n1 Main St'],
    ['worker', sandbox, 'MAIL_ALLOW_DOMAINS', ' Example.com,,b.test', ['example.com', 'b.test']],
    ['staff', sandbox, 'ENCRYPTION_KEY', `${key(2)}, ${key(1)}`, [Buffer.alloc(32, 2), Buffer.alloc(32, 1)]],
    ['api', hosted, 'TRUST_PROXY', '10.0.0.0/8, fd00::1,fc00::/7', '10.0.0.0/8, fd00::1,fc00::/7'],
    ['worker', production, 'SMTP_URL', STARTTLS, STARTTLS],
  ])('%s with %j reads %s=%s as %j', (program, base, name, value, read) => {
    expect(readConfig(program, {}, { ...base, [name]: value })).toHaveProperty(name, read)
  })

  test.each([
    'postgresql://service@127.0.0.1/referrals',
    'postgresql://service@nowhere/referrals?host=/var/run/postgresql',
    `${remoteDatabase}?sslmode=disable&sslmode=verify-full`,
  ])('production takes %s', (url) => {
    expect(refusalOf('api', { ...production, DATABASE_URL: url })).toBe('accepted')
  })
})

describe('refusals', () => {
  type Row = [Program, base: NodeJS.ProcessEnv, name: string, value: string, says: string]
  const words = (text: string) => text.split(' ')
  const required = words('SMTP_URL SCORE_PROVIDER_URL MAIL_REPLY_TO MAIL_FOOTER STAFF_EMAIL ERASURE_LOG')
  const noProxies = words('0.0.0.0/0 10.0.0.1,2000::/3 proxy.example.com 10.0.0.1, 10.0.0.0/33')
  const noSenders = ['', 'us <no-reply@localhost>', 'no-reply@127.0.0.1', 'example.com']
  const otherHost = 'postgresql://s@localhost/r?host=db.example.com'
  const at = (HOST: string) => ({ ...sandbox, HOST })
  const plainDatabase = { ...production, ALLOW_PLAINTEXT: 'database' }
  const noProxy = 'is not set: name your TLS proxy'
  const noSender = 'must be at a domain of yours'
  const useSmtps = 'may send in plain text: use smtps://'
  const useVerifyFull = 'may send in plain text: add ?sslmode=verify-full'

  test.each<Row>([
    ['api', sandbox, 'ENVIRONMENT', 'staging', 'must be sandbox or production'],
    ['api', sandbox, 'DATABASE_URL', 'postgresql://s:100%sure@db/x', 'has a % that stands for itself'],
    ['api', sandbox, 'DATABASE_URL', 'postgresql://s@db:5432', 'must end with the name of the database'],
    ['worker', sandbox, 'ENCRYPTION_KEY', `${key(1)},`, 'must be 32 bytes in base64'],
    ['api', sandbox, 'PORT', '0x10', 'must be a port number from 0 to 65535'],
    ['staff', sandbox, 'TEMPORAL_UI_URL', 'temporal:8080', 'must be an http:// or https:// URL'],
    ['worker', sandbox, 'MAIL_REPLY_TO', 'Help <help@example.com>', 'must be an email address'],
    ['worker', sandbox, 'RETENTION_LEADS_DAYS', '0', 'must be a whole number of days from 1'],
    ['worker', sandbox, 'WEBHOOK_ALLOW_PRIVATE_NETWORK', '127.0.0.1', 'must be true or false'],
    ['staff', sandbox, 'ERASURE_LOG', 'erasures.jsonl', 'must be an absolute path'],
    ['worker', sandbox, 'ALLOW_PLAINTEXT', 'smtp,http', 'Invalid option: expected one of "smtp"'],
    ['api', sandbox, 'TLS_CERT_FILE', 'c.pem', 'and TLS_KEY_FILE go together: set both or neither'],
    ...noProxies.map((list): Row => ['api', sandbox, 'TRUST_PROXY', list, 'must be addresses or networks']),
    ['api', hosted, 'TRUST_PROXY', '', noProxy],
    ['api', at('127.0.0.1.example.com'), 'TRUST_PROXY', '', noProxy],
    ['worker', at('::'), 'WEBHOOK_ALLOW_PRIVATE_NETWORK', 'true', 'is for a sandbox on loopback'],
    ...required.map((name): Row => ['worker', production, name, '', 'is required in production: ']),
    ['api', production, 'ERASURE_LOG', '', 'is required in production: '],
    ['api', production, 'TRUST_PROXY', '', noProxy],
    ['staff', production, 'WEBHOOK_ALLOW_PRIVATE_NETWORK', 'true', 'is for a sandbox'],
    ...noSenders.map((from): Row => ['worker', production, 'MAIL_FROM', from, noSender]),
    ['worker', production, 'SMTP_URL', 'smtp://127.0.0.1?requireTLS=false', useSmtps],
    ['worker', plainDatabase, 'SMTP_URL', 'smtp://a', useSmtps],
    ['worker', production, 'SCORE_PROVIDER_URL', 'HTTP://scores', 'may send in plain text: use https://'],
    ['setup-temporal', production, 'DATABASE_URL', remoteDatabase, useVerifyFull],
    ['migrate', production, 'MIGRATION_DATABASE_URL', remoteDatabase, useVerifyFull],
    ['api', production, 'DATABASE_URL', `${remoteDatabase}?sslmode=prefer`, useVerifyFull],
    ['api', production, 'DATABASE_URL', otherHost, useVerifyFull],
  ])('%s with %j and %s=%s: %s', (program, base, name, value, says) => {
    const message = refusalOf(program, { ...base, [name]: value })
    expect(message).toContain(`Configuration: ${name} ${says}`)
    expect(message).toMatch(/^[^\n;]+\. See docs\/settings\.md\.$/)
  })

  test('plain text is taken where it is named, and in a sandbox', () => {
    const urls = {
      SMTP_URL: 'smtp://mail',
      SCORE_PROVIDER_URL: 'http://scores',
      DATABASE_URL: remoteDatabase,
    }
    const named = { ...production, ...urls, ALLOW_PLAINTEXT: 'smtp, score_provider,database' }
    expect(refusalOf('worker', named)).toBe('accepted')
    expect(refusalOf('worker', { ...production, ...urls, ENVIRONMENT: 'sandbox' })).toBe('accepted')
  })

  test('one line names every faulty variable and repeats no secret', () => {
    const faulty = { DATABASE_URL: 'mysql://u:s3cret@db/x', METRICS_PORT: 'x', ENCRYPTION_KEY: 's3cret' }
    const message = refusalOf('worker', faulty)
    const names = message.split('; ').map((fault) => fault.replace('Configuration: ', '').split(' ')[0])
    expect(names).toEqual(['ENVIRONMENT', 'DATABASE_URL', 'METRICS_PORT', 'ENCRYPTION_KEY'])
    const unsafe = { ...production, DATABASE_URL: remoteDatabase, SMTP_URL: 'smtp://u:s3cret@mail' }
    const refused = refusalOf('worker', { ...unsafe, SCORE_PROVIDER_URL: 'http://u:s3cret@scores' })
    expect(refused.split('; ')).toHaveLength(3)
    expect(message + refused).not.toMatch(/s(3)?ecret|\n/)
  })
})

describe('the settings of Temporal', () => {
  const plain = { TEMPORAL_ADDRESS: 'temporal.internal:7233' }
  const inProduction = (environment: NodeJS.ProcessEnv, ALLOW_PLAINTEXT: ('temporal' | 'database')[] = []) =>
    readTemporal({ ENVIRONMENT: 'production', ALLOW_PLAINTEXT }, environment)

  test('have a default for the namespace, and an empty variable counts as unset', () => {
    expect(readTemporal(undefined, { ...plain, TEMPORAL_NAMESPACE: '', TEMPORAL_TLS: '' })).toMatchObject({
      connectionOptions: { address: 'temporal.internal:7233' },
      namespace: 'default',
    })
  })

  test.each([
    [undefined, 'is not set'],
    ...['temporal:72333', 'http://temporal:7233', '::1:7233', 'temporal:'].map((address) => [
      address,
      'must be a host with its port, such as temporal:7233',
    ]),
  ])('refuse the address %s: it %s', (TEMPORAL_ADDRESS, message) => {
    const refusal = new Refusal(`Configuration: TEMPORAL_ADDRESS ${message}. See docs/settings.md.`)
    expect(() => readTemporal(undefined, { TEMPORAL_ADDRESS })).toThrow(refusal)
  })

  test('say in one line that a certificate cannot be read', () => {
    const files = { TEMPORAL_TLS_CLIENT_CERT_PATH: '/none', TEMPORAL_TLS_CLIENT_KEY_PATH: '/none' }
    expect(() => readTemporal(undefined, { ...plain, ...files })).toThrow(
      /^Configuration: Temporal’s settings cannot be read: .*$/,
    )
  })

  test.each([
    ['127.0.0.1:7233', true],
    ['temporal.internal:7233', false],
    ['[2001:db8::1]:7233', false],
  ])('reach %s without the proxy that http_proxy names: %p', (address, isDirect) => {
    expect(readTemporal(undefined, { TEMPORAL_ADDRESS: address }).connectionOptions.channelArgs).toEqual({
      'grpc.max_reconnect_backoff_ms': 5000,
      ...(isDirect && { 'grpc.enable_http_proxy': 0 }),
    })
  })

  test('refuse an unverified server in production', () => {
    const environment = { ...plain, TEMPORAL_TLS: 'true', TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: '1' }
    expect(() => inProduction(environment)).toThrow(
      'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION is for tests: unset it',
    )
    expect(() => readTemporal({ ENVIRONMENT: 'sandbox', ALLOW_PLAINTEXT: [] }, environment)).not.toThrow()
  })

  test.each([plain, { ...plain, TEMPORAL_API_KEY: 'k', TEMPORAL_TLS: '0' }])(
    'refuse plain text in production: %j',
    (environment) => {
      expect(() => inProduction(environment, ['database'])).toThrow(
        /^Configuration: TEMPORAL_ADDRESS would be reached in plain text: .*ALLOW_PLAINTEXT=temporal\. See docs\/settings\.md\.$/,
      )
      expect(() => inProduction(environment, ['temporal'])).not.toThrow()
    },
  )

  test.each([
    { ...plain, TEMPORAL_TLS: '1' },
    { ...plain, TEMPORAL_API_KEY: 'key' },
    { TEMPORAL_ADDRESS: '[::1]:7233' },
  ])('take TLS or this machine in production: %j', (environment) => {
    expect(() => inProduction(environment)).not.toThrow()
  })
})
