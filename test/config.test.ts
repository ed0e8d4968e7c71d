import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { type Config, ConfigError, readConfig, variableNames } from '../src/config.ts'

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64')

const sandbox = {
  ENVIRONMENT: 'sandbox',
  DATABASE_URL: 'postgresql://service:secret@127.0.0.1:5433/referrals',
  ENCRYPTION_KEY: key(1),
}
const production = {
  ...sandbox,
  ENVIRONMENT: 'production',
  SMTP_URL: 'smtps://mail.example.com',
  SCORE_PROVIDER_URL: 'https://scores.example.com/gains',
}
const hosted = { ...sandbox, HOST: '0.0.0.0' }

const refusalOf = (environment: NodeJS.ProcessEnv): string => {
  try {
    readConfig({}, environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'accepted'
}

describe('defaults', () => {
  test('the smallest configuration is a database, a key and the environment', () => {
    expect(readConfig({}, sandbox)).toEqual({
      ENVIRONMENT: 'sandbox',
      HOST: '127.0.0.1',
      PORT: 3000,
      DATABASE_URL: sandbox.DATABASE_URL,
      MAIL_FROM: 'Partner Referral Service <no-reply@localhost>',
      MAIL_ALLOW_DOMAINS: [],
      ENCRYPTION_KEY: [Buffer.alloc(32, 1)],
      LOG_LEVEL: 'info',
      RATE_LIMIT: 0,
      WEBHOOK_ALLOW_PRIVATE_NETWORK: false,
      WORKER_ACTIVITIES: 100,
      WORKER_CACHED_WORKFLOWS: 500,
      WORKER_WORKFLOW_TASKS: 20,
    })
  })

  test('the environment comes before the defaults of the caller', () => {
    expect(readConfig({ PORT: '1', LOG_LEVEL: 'debug' }, { ...sandbox, PORT: '2' })).toMatchObject({
      PORT: 2,
      LOG_LEVEL: 'debug',
    })
  })

  test('an empty variable counts as unset', () => {
    expect(readConfig({ PORT: '4000' }, { ...sandbox, PORT: '', STAFF_EMAIL: '' })).toMatchObject({
      PORT: 4000,
    })
    expect(refusalOf({ ...sandbox, DATABASE_URL: '' })).toContain('DATABASE_URL is not set')
  })
})

describe('values', () => {
  const readings: [string, NodeJS.ProcessEnv, Partial<Config>][] = [
    ['ports', { ...sandbox, PORT: '0', METRICS_PORT: '9464' }, { PORT: 0, METRICS_PORT: 9464 }],
    [
      'a flag',
      { ...sandbox, WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' },
      { WEBHOOK_ALLOW_PRIVATE_NETWORK: true },
    ],
    [
      'a flag that is off',
      { ...hosted, TRUST_PROXY: '10.0.0.1', WEBHOOK_ALLOW_PRIVATE_NETWORK: 'false' },
      {},
    ],
    [
      'a list of domains',
      { ...sandbox, MAIL_ALLOW_DOMAINS: ' Example.com,,test.example ' },
      { MAIL_ALLOW_DOMAINS: ['example.com', 'test.example'] },
    ],
    [
      'older encryption keys after the current one',
      { ...sandbox, ENCRYPTION_KEY: `${key(2)}, ${key(1)}` },
      { ENCRYPTION_KEY: [Buffer.alloc(32, 2), Buffer.alloc(32, 1)] },
    ],
    ['a public address behind a named proxy', { ...hosted, TRUST_PROXY: '10.0.0.1' }, { HOST: '0.0.0.0' }],
    [
      'a public address with TLS of its own',
      { ...hosted, TLS_CERT_FILE: 'c.pem', TLS_KEY_FILE: 'k.pem' },
      {},
    ],
    ['the loopback address by name', { ...sandbox, HOST: 'localhost' }, { HOST: 'localhost' }],
    ['the loopback address of IPv6', { ...sandbox, HOST: '::1' }, { HOST: '::1' }],
    ['a complete production', production, { ENVIRONMENT: 'production' }],
  ]

  test.each(readings)('reads %s', (_what, environment, expected) => {
    expect(readConfig({}, environment)).toMatchObject(expected)
  })
})

describe('refusals', () => {
  const refusals: [NodeJS.ProcessEnv, string][] = [
    [{ ENVIRONMENT: 'staging' }, 'ENVIRONMENT must be sandbox or production'],
    [{ ENVIRONMENT: undefined }, 'ENVIRONMENT is not set'],
    [{ DATABASE_URL: undefined }, 'DATABASE_URL is not set'],
    [{ DATABASE_URL: 'mysql://localhost/x' }, 'DATABASE_URL must be a postgresql:// URL'],
    [{ ENCRYPTION_KEY: undefined }, 'ENCRYPTION_KEY is not set'],
    [{ ENCRYPTION_KEY: 'c2hvcnQ=' }, 'ENCRYPTION_KEY must be 32 bytes in base64'],
    [{ ENCRYPTION_KEY: `${key(1)},` }, 'ENCRYPTION_KEY must be 32 bytes in base64'],
    [{ PORT: '70000' }, 'PORT must be a port number from 0 to 65535'],
    [{ PORT: 'http' }, 'PORT must be a port number from 0 to 65535'],
    [{ METRICS_PORT: '-1' }, 'METRICS_PORT must be a port number from 0 to 65535'],
    [{ TEMPORAL_UI_URL: 'temporal:8080' }, 'TEMPORAL_UI_URL must be an http:// or https:// URL'],
    [{ SCORE_PROVIDER_URL: 'ftp://scores.example' }, 'SCORE_PROVIDER_URL must be an http:// or https:// URL'],
    [{ SMTP_URL: 'http://mail.example' }, 'SMTP_URL must be an smtp:// or smtps:// URL'],
    [{ STAFF_EMAIL: 'staff' }, 'STAFF_EMAIL must be an e-mail address'],
    [{ RATE_LIMIT: '1.5' }, 'RATE_LIMIT must be a whole number of requests a minute, 0 for no limit'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL '],
    [{ WEBHOOK_ALLOW_PRIVATE_NETWORK: 'yes' }, 'WEBHOOK_ALLOW_PRIVATE_NETWORK must be true or false'],
    [{ TLS_CERT_FILE: 'c.pem' }, 'TLS_CERT_FILE and TLS_KEY_FILE go together: set both or neither'],
    [{ TLS_KEY_FILE: 'k.pem' }, 'TLS_CERT_FILE and TLS_KEY_FILE go together: set both or neither'],
    [{ HOST: '0.0.0.0' }, 'HOST 0.0.0.0 is not loopback'],
    [{ HOST: '127.0.0.1.example.com' }, 'HOST 127.0.0.1.example.com is not loopback'],
    [
      { HOST: '::', TRUST_PROXY: '10.0.0.1', WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' },
      'WEBHOOK_ALLOW_PRIVATE_NETWORK is for one machine only',
    ],
    [
      { ENVIRONMENT: 'production', SCORE_PROVIDER_URL: production.SCORE_PROVIDER_URL },
      'SMTP_URL is required',
    ],
    [{ ENVIRONMENT: 'production', SMTP_URL: production.SMTP_URL }, 'SCORE_PROVIDER_URL is required'],
  ]

  test.each(refusals)('%j is refused: %s', (change, expected) => {
    const message = refusalOf({ ...sandbox, ...change })
    expect(message).toContain(`Configuration: ${expected}`)
    expect(message).toMatch(/^[^\n;]+\. See \.env\.example\.$/)
  })

  test('one line names every faulty variable and repeats no secret', () => {
    const message = refusalOf({ DATABASE_URL: 'mysql://u:s3cret@db/x', PORT: 'x', ENCRYPTION_KEY: 's3cret' })
    expect(message.split('; ').map((fault) => fault.replace('Configuration: ', '').split(' ')[0])).toEqual([
      'ENVIRONMENT',
      'PORT',
      'DATABASE_URL',
      'ENCRYPTION_KEY',
    ])
    expect(message).not.toMatch(/s3cret|\n/)
  })
})

describe('.env.example', () => {
  const example = readFileSync(path.join(import.meta.dirname, '../.env.example'), 'utf8')
  const [ofService = '', ofCompose = ''] = example.split('# Only for docker compose')
  const namesIn = (text: string) =>
    Array.from(text.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm), ([, name]) => name)

  test('names each variable of the service, and beside them only those of Temporal', () => {
    const ofTemporal = (name = '') => name.startsWith('TEMPORAL_') && !variableNames.includes(name)
    const own = namesIn(ofService).filter((name) => !ofTemporal(name))
    expect(new Set(own)).toEqual(new Set(variableNames))
  })

  test('names nothing twice, and everything under a comment', () => {
    const names = namesIn(ofService + ofCompose)
    expect(names).toEqual([...new Set(names)])
    expect(example).not.toMatch(/\n\n(# )?[A-Z][A-Z0-9_]*=/)
  })

  test('holds no secret', () => {
    expect(example).toMatch(/^ENCRYPTION_KEY=$/m)
    expect(example.match(/^(# )?[A-Z_]*(KEY|PASSWORD|TOKEN)=.+$/gm)).toBeNull()
  })
})
