import { describe, expect, test } from '@jest/globals'
import { ConfigError, type Program, readConfig, readTemporal } from '../src/config.ts'

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
  MAIL_FROM: 'Referrals <no-reply@example.com>',
  MAIL_REPLY_TO: 'help@example.com',
  MAIL_FOOTER: 'Example Inc., 1 Main Street',
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

describe('defaults', () => {
  const everywhere = { ENVIRONMENT: 'sandbox', DATABASE_URL: sandbox.DATABASE_URL, ALLOW_PLAINTEXT: [] }
  const processes = {
    HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    STARTS_IN_FLIGHT: 8,
    DATABASE_POOL: 20,
  }
  const retention = {
    RETENTION_LEADS_DAYS: 730,
    RETENTION_ATTEMPTS_DAYS: 30,
    RETENTION_NOTICES_DAYS: 90,
    RETENTION_ENDPOINTS_DAYS: 365,
  }
  const secrets = { ENCRYPTION_KEY: [Buffer.alloc(32, 1)], WEBHOOK_ALLOW_PRIVATE_NETWORK: false }

  test.each<[Program, NodeJS.ProcessEnv, object]>([
    [
      'api',
      sandbox,
      {
        ...everywhere,
        ...processes,
        ...secrets,
        PORT: 3000,
        RATE_LIMIT: 0,
        MAX_CONNECTIONS: 1000,
        DRAIN_SECONDS: 5,
        EGRESS_ADDRESSES: [],
      },
    ],
    [
      'worker',
      sandbox,
      {
        ...everywhere,
        ...processes,
        ...secrets,
        ...retention,
        SMTP_CATCHER: false,
        MAIL_FROM: 'Partner Referral Service <no-reply@localhost>',
        MAIL_ALLOW_DOMAINS: [],
        SCORE_PROVIDER_RATE: 0,
        WORKER_ACTIVITIES: 100,
        WORKER_CACHED_WORKFLOWS: 500,
        STARTUP_SECONDS: 10,
        WORKER_WORKFLOW_TASKS: 20,
      },
    ],
    ['staff', sandbox, { ...everywhere, ...secrets }],
    ['migrate', database, everywhere],
    ['setup-temporal', database, everywhere],
  ])(
    '%s needs its environment and database, and an encryption key where it handles signing secrets',
    (program, environment, expected) => {
      expect(readConfig(program, {}, environment)).toEqual(expected)
    },
  )

  test('the environment comes before the defaults of the caller', () => {
    expect(readConfig('api', { PORT: '1', LOG_LEVEL: 'debug' }, { ...sandbox, PORT: '2' })).toMatchObject({
      PORT: 2,
      LOG_LEVEL: 'debug',
    })
  })

  test('an empty variable counts as unset', () => {
    expect(readConfig('api', { PORT: '4000' }, { ...sandbox, PORT: '', HOST: '' })).toMatchObject({
      PORT: 4000,
      HOST: '127.0.0.1',
    })
    expect(refusalOf('api', { ...sandbox, DATABASE_URL: '' })).toContain('DATABASE_URL is not set')
  })

  test.each<[Program, NodeJS.ProcessEnv]>([
    [
      'api',
      { ...sandbox, ENVIRONMENT: 'production', TRUST_PROXY: '127.0.0.1', ERASURE_LOG: '/erasures.jsonl' },
    ],
    ['migrate', { ...database, ENVIRONMENT: 'production' }],
    ['staff', { ...sandbox, ENVIRONMENT: 'production', ERASURE_LOG: '/erasures.jsonl' }],
  ])(
    '%s needs no mail server, score provider or other secret that it does not use',
    (program, environment) => {
      expect(refusalOf(program, { ...environment, SCORE_PROVIDER_URL: 'no URL' })).toBe('accepted')
    },
  )
})

describe('values', () => {
  const readings: [string, Program, NodeJS.ProcessEnv, object][] = [
    ['ports', 'api', { ...sandbox, PORT: '0', METRICS_PORT: '9464' }, { PORT: 0, METRICS_PORT: 9464 }],
    [
      'a flag',
      'worker',
      { ...sandbox, WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' },
      { WEBHOOK_ALLOW_PRIVATE_NETWORK: true },
    ],
    [
      'days, or none',
      'staff',
      { ...sandbox, RETENTION_LEADS_DAYS: 'off', RETENTION_NOTICES_DAYS: '7' },
      { RETENTION_LEADS_DAYS: null, RETENTION_NOTICES_DAYS: 7 },
    ],
    ['a flag that is off', 'worker', { ...hosted, WEBHOOK_ALLOW_PRIVATE_NETWORK: 'false' }, {}],
    [
      'a list of domains',
      'worker',
      { ...sandbox, MAIL_ALLOW_DOMAINS: ' Example.com,,test.example ' },
      { MAIL_ALLOW_DOMAINS: ['example.com', 'test.example'] },
    ],
    [
      'where webhooks come from',
      'api',
      { ...sandbox, EGRESS_ADDRESSES: '203.0.113.16/28, 198.51.100.7,2001:DB8::/32,' },
      { EGRESS_ADDRESSES: ['203.0.113.16/28', '198.51.100.7', '2001:db8::/32'] },
    ],
    [
      'older encryption keys after the current one',
      'staff',
      { ...sandbox, ENCRYPTION_KEY: `${key(2)}, ${key(1)}` },
      { ENCRYPTION_KEY: [Buffer.alloc(32, 2), Buffer.alloc(32, 1)] },
    ],
    [
      'the ways on which plain text is allowed',
      'worker',
      { ...sandbox, ALLOW_PLAINTEXT: 'smtp, database' },
      { ALLOW_PLAINTEXT: ['smtp', 'database'] },
    ],
    [
      'a public address behind named proxies',
      'api',
      { ...hosted, TRUST_PROXY: '10.0.0.0/8, fd00::1,fc00::/7,loopback' },
      { HOST: '0.0.0.0' },
    ],
    [
      'a public address with TLS of its own',
      'api',
      { ...hosted, TLS_CERT_FILE: 'c.pem', TLS_KEY_FILE: 'k.pem' },
      {},
    ],
    [
      'production on loopback with TLS of its own',
      'api',
      { ...production, TRUST_PROXY: '', TLS_CERT_FILE: 'c.pem', TLS_KEY_FILE: 'k.pem' },
      {},
    ],
    ['a public address for a worker’s probes', 'worker', hosted, { HOST: '0.0.0.0' }],
    ['the loopback address by name', 'api', { ...sandbox, HOST: 'localhost' }, { HOST: 'localhost' }],
    ['the loopback address of IPv6', 'api', { ...sandbox, HOST: '::1' }, { HOST: '::1' }],
    ['a complete production', 'worker', production, { ENVIRONMENT: 'production' }],
    ['production with its rate limit', 'api', production, { RATE_LIMIT: 600 }],
    [
      'production with a blank for its rate limit',
      'api',
      { ...production, RATE_LIMIT: ' ' },
      { RATE_LIMIT: 600 },
    ],
    ['a number with a blank after it', 'api', { ...sandbox, RATE_LIMIT: '60 ' }, { RATE_LIMIT: 60 }],
    ['production without a rate limit', 'api', { ...production, RATE_LIMIT: '0' }, { RATE_LIMIT: 0 }],
    ['a sandbox with a rate limit', 'api', { ...sandbox, RATE_LIMIT: '60' }, { RATE_LIMIT: 60 }],
    [
      'plain text wherever a sandbox likes',
      'worker',
      { ...production, ...plain(), ENVIRONMENT: 'sandbox' },
      {},
    ],
    [
      'plain text in production on each way that is named',
      'worker',
      { ...production, ...plain(), ALLOW_PLAINTEXT: 'smtp,score_provider,database,temporal' },
      {},
    ],
    [
      'a mail server of production that must speak STARTTLS',
      'worker',
      { ...production, SMTP_URL: 'smtp://mail.example.com:587?requireTLS=true' },
      {},
    ],
  ]

  function plain() {
    return {
      SMTP_URL: 'smtp://mail.example.com',
      SCORE_PROVIDER_URL: 'http://scores.example.com',
      DATABASE_URL: remoteDatabase,
    }
  }

  test.each(readings)('reads %s', (_what, program, environment, expected) => {
    expect(readConfig(program, {}, environment)).toMatchObject(expected)
  })

  test.each([
    'postgresql://service@127.0.0.1/referrals',
    'postgresql://service@[::1]:5432/referrals',
    'postgresql://service@localhost/referrals?sslmode=disable',
    'postgresql://service@nowhere/referrals?host=/var/run/postgresql',
    `${remoteDatabase}?sslmode=require`,
    `${remoteDatabase}?sslmode=verify-ca`,
    `${remoteDatabase}?sslmode=disable&sslmode=verify-full`,
  ])('takes %s in production', (url) => {
    expect(refusalOf('api', { ...production, DATABASE_URL: url })).toBe('accepted')
  })
})

describe('refusals', () => {
  const oneLine = /^[^\n;]+\. See docs\/settings\.md\.$/

  const refusals: [Program, NodeJS.ProcessEnv, string][] = [
    ['api', { ENVIRONMENT: 'staging' }, 'ENVIRONMENT must be sandbox or production'],
    ['api', { ENVIRONMENT: undefined }, 'ENVIRONMENT is not set'],
    ['api', { DATABASE_URL: undefined }, 'DATABASE_URL is not set'],
    ['api', { DATABASE_URL: 'mysql://localhost/x' }, 'DATABASE_URL must be a postgresql:// URL'],
    [
      'api',
      { DATABASE_URL: 'postgresql://service:100%sure@db/x' },
      'DATABASE_URL has a % that stands for itself: write it as %25',
    ],
    [
      'api',
      { DATABASE_URL: 'postgresql://s@db:5432' },
      'DATABASE_URL must end with the name of the database',
    ],
    ['worker', { ENCRYPTION_KEY: undefined }, 'ENCRYPTION_KEY is not set'],
    ['api', { ENCRYPTION_KEY: undefined }, 'ENCRYPTION_KEY is not set'],
    ['worker', { ENCRYPTION_KEY: 'c2hvcnQ=' }, 'ENCRYPTION_KEY must be 32 bytes in base64'],
    ['worker', { ENCRYPTION_KEY: `${key(1)},` }, 'ENCRYPTION_KEY must be 32 bytes in base64'],
    ['api', { PORT: '70000' }, 'PORT must be a port number from 0 to 65535'],
    ['api', { PORT: 'http' }, 'PORT must be a port number from 0 to 65535'],
    ['api', { METRICS_PORT: '-1' }, 'METRICS_PORT must be a port number from 0 to 65535'],
    ['staff', { TEMPORAL_UI_URL: 'temporal:8080' }, 'TEMPORAL_UI_URL must be an http:// or https:// URL'],
    [
      'worker',
      { SCORE_PROVIDER_URL: 'ftp://scores.example' },
      'SCORE_PROVIDER_URL must be an http:// or https:// URL',
    ],
    ['worker', { SMTP_URL: 'http://mail.example' }, 'SMTP_URL must be an smtp:// or smtps:// URL'],
    ['worker', { STAFF_EMAIL: 'staff' }, 'STAFF_EMAIL must be an email address'],
    ['worker', { MAIL_REPLY_TO: 'Help <help@example.com>' }, 'MAIL_REPLY_TO must be an email address'],
    ['worker', { MAIL_FOOTER: 'a\tb' }, 'MAIL_FOOTER must be text of at most 2000 characters'],
    ['api', { RATE_LIMIT: '1.5' }, 'RATE_LIMIT must be a whole number of requests a minute, 0 for no limit'],
    ['api', { RATE_LIMIT: '1e3' }, 'RATE_LIMIT must be a whole number of requests a minute, 0 for no limit'],
    ['api', { PORT: '0x10' }, 'PORT must be a port number from 0 to 65535'],
    ['api', { DRAIN_SECONDS: '-1' }, 'DRAIN_SECONDS must be a whole number of seconds from 0 to 300'],
    ['api', { MAX_CONNECTIONS: '0' }, 'MAX_CONNECTIONS must be a whole number from 1 to 1000000'],
    ['api', { LOG_LEVEL: 'loud' }, 'LOG_LEVEL '],
    ...['0', '1.5', '40000', 'never'].map((days): [Program, NodeJS.ProcessEnv, string] => [
      'worker',
      { RETENTION_LEADS_DAYS: days },
      'RETENTION_LEADS_DAYS must be a whole number of days from 1 to 36500, or off',
    ]),
    [
      'worker',
      { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'yes' },
      'WEBHOOK_ALLOW_PRIVATE_NETWORK must be true or false',
    ],
    ['worker', { SMTP_CATCHER: '127.0.0.1' }, 'SMTP_CATCHER must be true or false'],
    ['api', { TLS_CERT_FILE: 'c.pem' }, 'TLS_CERT_FILE and TLS_KEY_FILE go together: set both or neither'],
    ['api', { TLS_KEY_FILE: 'k.pem' }, 'TLS_CERT_FILE and TLS_KEY_FILE go together: set both or neither'],
    [
      'worker',
      { TEMPORAL_WORKER_BUILD_ID: '1' },
      'TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID go together',
    ],
    ['api', { HOST: '0.0.0.0' }, 'HOST 0.0.0.0 is not loopback'],
    ...(['api', 'worker'] as const).map((program): [Program, NodeJS.ProcessEnv, string] => [
      program,
      { HOST: '10.0.0.5', TRUST_PROXY: '10.0.0.6', METRICS_PORT: '9464' },
      'METRICS_PORT would be open to all who reach 10.0.0.5: set METRICS_HOST',
    ]),
    [
      'worker',
      { HOST: '10.0.0.5', TEMPORAL_METRICS_PORT: '9465' },
      'TEMPORAL_METRICS_PORT would be open to all who reach 10.0.0.5: set METRICS_HOST',
    ],
    ['worker', { TEMPORAL_METRICS_PORT: '0' }, 'TEMPORAL_METRICS_PORT must be a port number from 1 to 65535'],
    ['api', { HOST: '127.0.0.1.example.com' }, 'HOST 127.0.0.1.example.com is not loopback'],
    [
      'worker',
      { HOST: '::', WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' },
      'WEBHOOK_ALLOW_PRIVATE_NETWORK is for one machine only',
    ],
    [
      'migrate',
      { MIGRATION_DATABASE_URL: 'file:///x' },
      'MIGRATION_DATABASE_URL must be a postgresql:// URL',
    ],
    [
      'worker',
      { ALLOW_PLAINTEXT: 'smtp,http' },
      'ALLOW_PLAINTEXT must be one or more of smtp, score_provider, database, temporal',
    ],
    [
      'migrate',
      { ALLOW_PLAINTEXT: 'all' },
      'ALLOW_PLAINTEXT must be one or more of smtp, score_provider, database, temporal',
    ],
  ]

  test.each(refusals)('%s with %j is refused: %s', (program, change, expected) => {
    const message = refusalOf(program, { ...sandbox, ...change })
    expect(message).toContain(`Configuration: ${expected}`)
    expect(message).toMatch(oneLine)
  })

  test.each([
    undefined,
    '',
    'Partner Referral Service <no-reply@localhost>',
    'no-reply@127.0.0.1',
    'no-reply@mail.localhost',
    'Lender <no-reply@mailserver>',
    'no-reply@example.',
    'example.com',
    'no-reply@[127.0.0.1]',
    'us@example.com <no-reply@localhost>',
  ])('production sends no mail from %s', (MAIL_FROM) => {
    expect(refusalOf('worker', { ...production, MAIL_FROM })).toMatch(
      /^Configuration: MAIL_FROM must have an address at a domain of yours in production, [^;]*\. See docs\/settings\.md\.$/,
    )
    expect(refusalOf('worker', { ...sandbox, SMTP_URL: 'smtp://127.0.0.1', MAIL_FROM })).toBe('accepted')
  })

  test.each([
    { HOST: '10.0.0.5', TRUST_PROXY: '10.0.0.6', METRICS_PORT: '9464', METRICS_HOST: '127.0.0.1' },
    { HOST: '0.0.0.0', TRUST_PROXY: '10.0.0.6', METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' },
    { METRICS_PORT: '9464' },
    { TEMPORAL_WORKER_BUILD_ID: '2026-11-21.1', GIT_COMMIT: '' },
  ])('metrics are served where the settings say so: %j', (settings) => {
    expect(refusalOf('api', { ...production, ...settings })).toBe('accepted')
  })

  test.each([
    ['203.0.113.7/24', 'is an address with the size of its network: use 203.0.113.0/24'],
    ['198.51.100.7,hooks.example.com', 'hooks.example.com is neither an IP address nor a network'],
    ['0.0.0.0/0', 'is every address'],
  ])('promises no webhooks from %s', (addresses, fault) => {
    const message = refusalOf('api', { ...sandbox, EGRESS_ADDRESSES: addresses })
    expect(message).toContain('Configuration: EGRESS_ADDRESSES must be addresses and networks')
    expect(message).toContain(fault)
    expect(message).toMatch(oneLine)
  })

  test.each([
    '0.0.0.0/0',
    '::/0',
    '10.0.0.1,0.0.0.0/0',
    '0.0.0.0/1,128.0.0.0/1',
    '::ffff:0:0/96',
    '::/8',
    '2000::/3',
    'true',
    '1',
    '*',
    'proxy.example.com',
    '10.0.0.1,',
    '10.0.0.0/33',
    '10.0.0.0/255.0.0.0',
  ])('trusts no proxies that are named as %s, in either environment', (proxies) => {
    for (const environment of [sandbox, production]) {
      const message = refusalOf('api', { ...environment, TRUST_PROXY: proxies })
      expect(message).toContain('Configuration: TRUST_PROXY must be the proxies’ IP addresses or networks')
      expect(message).toMatch(oneLine)
    }
  })

  const unsafe: [Program, NodeJS.ProcessEnv, RegExp][] = [
    ['worker', { SMTP_URL: '' }, /SMTP_URL is required/],
    ['worker', { SCORE_PROVIDER_URL: '' }, /SCORE_PROVIDER_URL is required/],
    ['worker', { MAIL_REPLY_TO: '' }, /MAIL_REPLY_TO is required in production: name the address/],
    ['worker', { MAIL_FOOTER: '' }, /MAIL_FOOTER is required in production: onboarding emails end with/],
    [
      'worker',
      { STAFF_EMAIL: '' },
      /STAFF_EMAIL is required in production: staff are told of changed endpoints/,
    ],
    ['worker', { SMTP_URL: 'smtp://mail.example.com:587' }, /SMTP_URL .* ALLOW_PLAINTEXT=smtp/],
    ['worker', { SMTP_URL: 'smtp://127.0.0.1:25?requireTLS=false' }, /SMTP_URL .*[?]requireTLS=true/],
    [
      'worker',
      { SMTP_URL: 'smtp://mail.example.com', ALLOW_PLAINTEXT: 'score_provider,database' },
      /SMTP_URL .* ALLOW_PLAINTEXT=smtp/,
    ],
    [
      'worker',
      { SCORE_PROVIDER_URL: 'http://scores' },
      /SCORE_PROVIDER_URL .* ALLOW_PLAINTEXT=score_provider/,
    ],
    [
      'worker',
      { SCORE_PROVIDER_URL: 'HTTP://scores' },
      /SCORE_PROVIDER_URL .* ALLOW_PLAINTEXT=score_provider/,
    ],
    ...(['api', 'worker', 'staff'] as const).map((program): [Program, NodeJS.ProcessEnv, RegExp] => [
      program,
      { ERASURE_LOG: 'erasures.jsonl' },
      /^Configuration: ERASURE_LOG must be an absolute path: each program would look for a relative one/,
    ]),
    ...(['api', 'worker', 'staff'] as const).map((program): [Program, NodeJS.ProcessEnv, RegExp] => [
      program,
      { ERASURE_LOG: '' },
      /ERASURE_LOG is required in production: name a file outside the database’s disk/,
    ]),
    [
      'api',
      { TRUST_PROXY: '' },
      /TRUST_PROXY is required in production: name your TLS proxy, or set TLS_CERT_FILE and TLS_KEY_FILE/,
    ],
    ['api', { TRUST_PROXY: '', TLS_CERT_FILE: 'c.pem' }, /TLS_CERT_FILE and TLS_KEY_FILE go together/],
    ['api', { TRUST_PROXY: '', HOST: '0.0.0.0' }, /HOST 0\.0\.0\.0 is not loopback/],
    ['worker', { SMTP_CATCHER: 'true' }, /SMTP_CATCHER is for a sandbox: unset it/],
    [
      'worker',
      { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' },
      /WEBHOOK_ALLOW_PRIVATE_NETWORK is for a sandbox: unset/,
    ],
    [
      'staff',
      { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' },
      /WEBHOOK_ALLOW_PRIVATE_NETWORK is for a sandbox: unset/,
    ],
    ...(['api', 'worker', 'staff', 'migrate', 'setup-temporal'] as const).map(
      (program): [Program, NodeJS.ProcessEnv, RegExp] => [
        program,
        { DATABASE_URL: remoteDatabase },
        /DATABASE_URL .* add [?]sslmode=verify-full, or set ALLOW_PLAINTEXT=database/,
      ],
    ),
    [
      'migrate',
      { MIGRATION_DATABASE_URL: remoteDatabase },
      /MIGRATION_DATABASE_URL .* ALLOW_PLAINTEXT=database/,
    ],
    ...['disable', 'allow', 'prefer', 'no-verify', ''].map((mode): [Program, NodeJS.ProcessEnv, RegExp] => [
      'api',
      { DATABASE_URL: `${remoteDatabase}?sslmode=${mode}` },
      /DATABASE_URL .*sslmode=verify-full/,
    ]),
    [
      'api',
      { DATABASE_URL: 'postgresql://service@localhost/referrals?host=db.example.com' },
      /DATABASE_URL .*sslmode=verify-full/,
    ],
  ]

  test.each(unsafe)('production’s %s is refused with %j', (program, change, expected) => {
    const message = refusalOf(program, { ...production, ...change })
    expect(message).toMatch(expected)
    expect(message).toMatch(oneLine)
  })

  test('one line names every faulty variable and repeats no secret', () => {
    const faulty = { DATABASE_URL: 'mysql://u:s3cret@db/x', METRICS_PORT: 'x', ENCRYPTION_KEY: 's3cret' }
    const message = refusalOf('worker', faulty)
    expect(message.split('; ').map((fault) => fault.replace('Configuration: ', '').split(' ')[0])).toEqual([
      'ENVIRONMENT',
      'DATABASE_URL',
      'METRICS_PORT',
      'ENCRYPTION_KEY',
    ])
    const unsafeOnes = { ...production, DATABASE_URL: remoteDatabase, SMTP_URL: 'smtp://u:s3cret@mail' }
    const refused = refusalOf('worker', { ...unsafeOnes, SCORE_PROVIDER_URL: 'http://u:s3cret@scores' })
    expect(refused.split('; ')).toHaveLength(3)
    expect(message + refused).not.toMatch(/s(3)?ecret|\n/)
  })
})

describe('the settings of Temporal', () => {
  const ALLOW_PLAINTEXT: ('temporal' | 'database')[] = []
  const plain = { TEMPORAL_ADDRESS: 'temporal.internal:7233' }
  const inProduction = (environment: NodeJS.ProcessEnv, allowed = ALLOW_PLAINTEXT) =>
    readTemporal({ ENVIRONMENT: 'production', ALLOW_PLAINTEXT: allowed }, environment).connectionOptions

  test('have a default for the namespace, and an empty variable counts as unset', () => {
    expect(readTemporal(undefined, { ...plain, TEMPORAL_NAMESPACE: '', TEMPORAL_TLS: '' })).toMatchObject({
      connectionOptions: { address: 'temporal.internal:7233' },
      namespace: 'default',
    })
  })

  test.each([{}, { TEMPORAL_ADDRESS: '' }])('name the address that is missing: %j', (environment) => {
    const missing = 'Configuration: TEMPORAL_ADDRESS is not set. See docs/settings.md.'
    expect(() => readTemporal(undefined, environment)).toThrow(new ConfigError(missing))
  })

  test.each([
    'temporal:72333',
    'temporal:0',
    'http://temporal:7233',
    '::1:7233',
    'temporal:7233 ',
    'temporal:',
    'user@temporal:7233',
  ])('refuse the address %j in one line', (address) => {
    expect(() => readTemporal(undefined, { TEMPORAL_ADDRESS: address })).toThrow(
      new ConfigError(
        `Configuration: TEMPORAL_ADDRESS ${address} is not a host with its port, such as temporal.internal:7233. See docs/settings.md.`,
      ),
    )
  })

  test.each([
    ['127.0.0.1:7233', true],
    ['localhost', true],
    ['[::1]:7233', true],
    ['temporal.internal:7233', false],
    ['[2001:db8::1]:7233', false],
  ])('reach %s without the proxy that http_proxy names: %p', (address, isDirect) => {
    expect(readTemporal(undefined, { TEMPORAL_ADDRESS: address }).connectionOptions.channelArgs).toEqual({
      'grpc.max_reconnect_backoff_ms': 5000,
      ...(isDirect && { 'grpc.enable_http_proxy': 0 }),
    })
  })

  test.each(['TEMPORAL_TLS', 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'])('refuse yes for %s', (name) => {
    const read = () => readTemporal(undefined, { [name]: 'yes' })
    expect(read).toThrow(
      new ConfigError(`Configuration: ${name} must be true or false. See docs/settings.md.`),
    )
  })

  test.each(['true', '1'])('refuse an unverified server in production: %s', (unverified) => {
    const environment = { ...plain, TEMPORAL_TLS: 'true', TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: unverified }
    expect(() => inProduction(environment)).toThrow(
      'Configuration: TEMPORAL_TLS_DISABLE_HOST_VERIFICATION is for tests: unset it',
    )
    expect(() => readTemporal({ ENVIRONMENT: 'sandbox', ALLOW_PLAINTEXT }, environment)).not.toThrow()
  })

  test('say in one line that the file cannot be read', () => {
    const read = () => readTemporal(undefined, { TEMPORAL_CONFIG_FILE: '/none.toml' })
    expect(read).toThrow(/^Configuration: Temporal’s settings cannot be read: ENOENT.*$/)
  })

  test.each([
    plain,
    { ...plain, TEMPORAL_TLS: 'false' },
    { ...plain, TEMPORAL_API_KEY: 'k', TEMPORAL_TLS: '0' },
  ])('refuse plain text in production: %j', (environment) => {
    expect(() => inProduction(environment)).toThrow(
      /^Configuration: TEMPORAL_ADDRESS temporal\.internal:7233 would be reached in plain text: .*ALLOW_PLAINTEXT=temporal\. See docs\/settings\.md\.$/,
    )
    expect(() => inProduction(environment, ['database'])).toThrow(ConfigError)
  })

  test.each([
    { ...plain, TEMPORAL_TLS: 'true' },
    { ...plain, TEMPORAL_TLS: '1' },
    { ...plain, TEMPORAL_API_KEY: 'key' },
    { ...plain, TEMPORAL_TLS_SERVER_CA_CERT_DATA: 'certificate' },
    { TEMPORAL_ADDRESS: '127.0.0.1:7233' },
    { TEMPORAL_ADDRESS: 'localhost:7233' },
    { TEMPORAL_ADDRESS: '[::1]:7233' },
  ])('take TLS or this machine in production: %j', (environment) => {
    expect(() => inProduction(environment)).not.toThrow()
  })

  test('take plain text where a sandbox likes, or where it is named', () => {
    expect(inProduction(plain, ['temporal'])).toMatchObject({ address: plain.TEMPORAL_ADDRESS })
    expect(() => readTemporal({ ENVIRONMENT: 'sandbox', ALLOW_PLAINTEXT }, plain)).not.toThrow()
  })
})
