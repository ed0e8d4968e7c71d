import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { ConfigError, type Program, programs, readConfig, readTemporal, settingsRows } from '../src/config.ts'

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

const refusalOf = (program: Program, environment: NodeJS.ProcessEnv): string => {
  try {
    readConfig(program, {}, environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
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
    expect(readConfig('api', { PORT: '1', LOG_LEVEL: 'debug' }, environment)).toMatchObject({
      PORT: 2,
      LOG_LEVEL: 'debug',
      HOST: '127.0.0.1',
    })
  })

  test.each<[Program, NodeJS.ProcessEnv, object]>([
    ['api', { ...sandbox, PORT: '0 ', METRICS_PORT: '9464' }, { PORT: 0, METRICS_PORT: 9464 }],
    [
      'worker',
      { ...hosted, WEBHOOK_ALLOW_PRIVATE_NETWORK: 'false' },
      { WEBHOOK_ALLOW_PRIVATE_NETWORK: false },
    ],
    ['worker', production, { RETENTION_LEADS_DAYS: 730, MAIL_FOOTER: 'Example Inc.\n1 Main Street' }],
    [
      'worker',
      { ...sandbox, MAIL_ALLOW_DOMAINS: ' Example.com,,b.test' },
      { MAIL_ALLOW_DOMAINS: ['example.com', 'b.test'] },
    ],
    [
      'staff',
      { ...sandbox, ENCRYPTION_KEY: `${key(2)}, ${key(1)}` },
      { ENCRYPTION_KEY: [Buffer.alloc(32, 2), Buffer.alloc(32, 1)] },
    ],
    ['api', { ...hosted, TRUST_PROXY: '10.0.0.0/8, fd00::1,fc00::/7' }, { HOST: '0.0.0.0' }],
    ['worker', { ...production, SMTP_URL: 'smtp://mail.example.com:587?requireTLS=true' }, {}],
  ])('%s reads %j as %j', (program, environment, expected) => {
    expect(readConfig(program, {}, environment)).toMatchObject(expected)
  })

  test.each([
    'postgresql://service@127.0.0.1/referrals',
    'postgresql://service@nowhere/referrals?host=/var/run/postgresql',
    `${remoteDatabase}?sslmode=disable&sslmode=verify-full`,
  ])('takes %s in production', (url) => {
    expect(refusalOf('api', { ...production, DATABASE_URL: url })).toBe('accepted')
  })
})

describe('refusals', () => {
  const oneLine = /^Configuration: [^\n;]+\. See docs\/settings\.md\.$/

  test.each<[Program, NodeJS.ProcessEnv, string]>([
    ['api', { ENVIRONMENT: 'staging' }, 'ENVIRONMENT must be sandbox or production'],
    [
      'api',
      { DATABASE_URL: 'postgresql://service:100%sure@db/x' },
      'DATABASE_URL has a % that stands for itself',
    ],
    [
      'api',
      { DATABASE_URL: 'postgresql://s@db:5432' },
      'DATABASE_URL must end with the name of the database',
    ],
    ['worker', { ENCRYPTION_KEY: `${key(1)},` }, 'ENCRYPTION_KEY must be 32 bytes in base64'],
    ['api', { PORT: '0x10' }, 'PORT must be a port number from 0 to 65535'],
    ['staff', { TEMPORAL_UI_URL: 'temporal:8080' }, 'TEMPORAL_UI_URL must be an http:// or https:// URL'],
    ['worker', { MAIL_REPLY_TO: 'Help <help@example.com>' }, 'MAIL_REPLY_TO must be an email address'],
    ['worker', { RETENTION_LEADS_DAYS: '0' }, 'RETENTION_LEADS_DAYS must be a whole number of days from 1'],
    ['worker', { SMTP_CATCHER: '127.0.0.1' }, 'SMTP_CATCHER must be true or false'],
    ['staff', { ERASURE_LOG: 'erasures.jsonl' }, 'ERASURE_LOG must be an absolute path'],
    ['worker', { ALLOW_PLAINTEXT: 'smtp,http' }, 'ALLOW_PLAINTEXT Invalid option: expected one of "smtp"'],
    ['api', { TLS_CERT_FILE: 'c.pem' }, 'TLS_CERT_FILE and TLS_KEY_FILE go together: set both or neither'],
    ['api', { HOST: '0.0.0.0' }, 'TRUST_PROXY is not set: name your TLS proxy'],
    ['api', { HOST: '127.0.0.1.example.com' }, 'TRUST_PROXY is not set: name your TLS proxy'],
    [
      'worker',
      { HOST: '::', WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' },
      'WEBHOOK_ALLOW_PRIVATE_NETWORK is for a sandbox on loopback',
    ],
  ])('%s with %j: %s', (program, change, expected) => {
    const message = refusalOf(program, { ...sandbox, ...change })
    expect(message).toContain(`Configuration: ${expected}`)
    expect(message).toMatch(oneLine)
  })

  test.each(['0.0.0.0/0', '10.0.0.1,2000::/3', 'proxy.example.com', '10.0.0.1,', '10.0.0.0/33'])(
    'trusts no proxies that are named as %s',
    (TRUST_PROXY) => {
      const message = refusalOf('api', { ...sandbox, TRUST_PROXY })
      expect(message).toContain('TRUST_PROXY must be addresses or networks of proxies')
      expect(message).toMatch(oneLine)
    },
  )

  test.each<[Program, NodeJS.ProcessEnv, RegExp]>([
    ...['SMTP_URL', 'SCORE_PROVIDER_URL', 'MAIL_REPLY_TO', 'MAIL_FOOTER', 'STAFF_EMAIL', 'ERASURE_LOG'].map(
      (name): [Program, NodeJS.ProcessEnv, RegExp] => [
        'worker',
        { [name]: '' },
        new RegExp(`${name} is required in production: `),
      ],
    ),
    ['api', { ERASURE_LOG: '' }, /ERASURE_LOG is required in production: /],
    ['api', { TRUST_PROXY: '' }, /TRUST_PROXY is not set: name your TLS proxy/],
    ['worker', { SMTP_CATCHER: 'true' }, /SMTP_CATCHER is for a sandbox: unset it/],
    ['staff', { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' }, /WEBHOOK_ALLOW_PRIVATE_NETWORK is for a sandbox/],
    ...['', 'us <no-reply@localhost>', 'no-reply@127.0.0.1', 'example.com'].map(
      (MAIL_FROM): [Program, NodeJS.ProcessEnv, RegExp] => [
        'worker',
        { MAIL_FROM },
        /MAIL_FROM must be at a domain of yours/,
      ],
    ),
    ['worker', { SMTP_URL: 'smtp://127.0.0.1:25?requireTLS=false' }, /SMTP_URL .* set ALLOW_PLAINTEXT=smtp/],
    [
      'worker',
      { SMTP_URL: 'smtp://a.example', ALLOW_PLAINTEXT: 'database' },
      /SMTP_URL .* set ALLOW_PLAINTEXT=smtp/,
    ],
    [
      'worker',
      { SCORE_PROVIDER_URL: 'HTTP://scores' },
      /SCORE_PROVIDER_URL .* ALLOW_PLAINTEXT=score_provider/,
    ],
    ['setup-temporal', { DATABASE_URL: remoteDatabase }, /DATABASE_URL .* set ALLOW_PLAINTEXT=database/],
    ['migrate', { MIGRATION_DATABASE_URL: remoteDatabase }, /MIGRATION_DATABASE_URL .*sslmode=verify-full/],
    ['api', { DATABASE_URL: `${remoteDatabase}?sslmode=prefer` }, /DATABASE_URL .*sslmode=verify-full/],
    [
      'api',
      { DATABASE_URL: 'postgresql://s@localhost/r?host=db.example.com' },
      /DATABASE_URL .*sslmode=verify-full/,
    ],
  ])('production’s %s with %j: %s', (program, change, expected) => {
    const message = refusalOf(program, { ...production, ...change })
    expect(message).toMatch(expected)
    expect(message).toMatch(oneLine)
  })

  test('plain text is taken where it is named, and in a sandbox', () => {
    const plain = {
      SMTP_URL: 'smtp://mail',
      SCORE_PROVIDER_URL: 'http://scores',
      DATABASE_URL: remoteDatabase,
    }
    const named = { ...production, ...plain, ALLOW_PLAINTEXT: 'smtp, score_provider,database' }
    expect(refusalOf('worker', named)).toBe('accepted')
    expect(refusalOf('worker', { ...production, ...plain, ENVIRONMENT: 'sandbox' })).toBe('accepted')
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
    [{}, 'TEMPORAL_ADDRESS is not set'],
    ...['temporal:72333', 'http://temporal:7233', '::1:7233', 'temporal:'].map(
      (address): [NodeJS.ProcessEnv, string] => [
        { TEMPORAL_ADDRESS: address },
        'TEMPORAL_ADDRESS must be a host with its port, such as temporal:7233',
      ],
    ),
  ])('%j is refused: %s', (environment, message) => {
    const refusal = new ConfigError(`Configuration: ${message}. See docs/settings.md.`)
    expect(() => readTemporal(undefined, environment)).toThrow(refusal)
  })

  test('say in one line that a certificate cannot be read', () => {
    const read = () =>
      readTemporal(undefined, {
        ...plain,
        TEMPORAL_TLS_CLIENT_CERT_PATH: '/none',
        TEMPORAL_TLS_CLIENT_KEY_PATH: '/none',
      })
    expect(read).toThrow(/^Configuration: Temporal’s settings cannot be read: .*$/)
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
