import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { programs } from '../src/config/schema.ts'
import { readConfig, readTemporal } from '../src/config.ts'
import { temporaryFolder } from './support/folder.ts'

interface Container {
  image: string
  command?: string[]
  ports?: string[]
  volumes?: string[]
  environment?: Record<string, string | number>
  mem_limit?: string
  cpus?: number
  pids_limit?: number
  security_opt?: string[]
}

const textOf = (file: string) => readFileSync(path.join(import.meta.dirname, '..', file), 'utf8')
const text = textOf('docker-compose.yml')
const compose: { services: Record<string, Container> } = parse(text, { merge: true })
const all = Object.entries(compose.services)

/** `.env.example` with what a sandbox has to fill in, and with what production changes. */
const sandbox = {
  ...(parseEnv(textOf('.env.example')) as Record<string, string>),
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
  POSTGRES_PASSWORD: 'of-the-owner',
  SERVICE_POSTGRES_PASSWORD: 'of-the-service',
  TEMPORAL_POSTGRES_PASSWORD: 'of-temporal',
}
const production = {
  ...sandbox,
  ENVIRONMENT: 'production',
  SMTP_URL: 'smtps://mail.example.com',
  MAIL_FROM: 'Referrals <no-reply@example.com>',
  MAIL_REPLY_TO: 'help@example.com',
  MAIL_FOOTER: 'Example Inc., 1 Main Street',
  SMTP_CATCHER: '',
  SCORE_PROVIDER_URL: 'https://scores.example.com',
  SCORE_PROVIDER_TOKEN: 'of-the-provider',
  STAFF_EMAIL: 'staff@service.example',
}

/** Compose's `${NAME}`, `${NAME:-default}`, `${NAME:?error}` and `${NAME:+instead}`, one in another. */
function interpolate(value: string | number, variables: Record<string, string>): string {
  const innermost = /\$\{(\w+)(?::([-?+])([^${}]*))?\}/
  let done = String(value)
  for (let found = innermost.exec(done); found !== null; found = innermost.exec(done)) {
    const [whole, name = '', operator, other = ''] = found
    const given = variables[name] ?? ''
    if (operator === '?' && given === '') throw new Error(`${name} ${other}`)
    const chosen = { '-': given || other, '+': given && other }[operator as '-' | '+'] ?? given
    done = done.replace(whole, () => chosen)
  }
  return done
}

const environmentOf = (service: string, variables: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(compose.services[service]?.environment ?? {}).map(([name, value]) => [
      name,
      interpolate(value, variables),
    ]),
  )

describe('docker-compose.yml', () => {
  it.each(all)('gives %s an end to its memory, CPU and processes, and no new privileges', (_, container) => {
    expect(container).toMatchObject({
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      cpus: expect.any(Number),
      pids_limit: expect.any(Number),
      security_opt: expect.arrayContaining(['no-new-privileges:true']),
    })
  })

  it.each(Object.keys(programs) as (keyof typeof programs)[])(
    'gives %s nothing that it does not read',
    (program) => {
      const temporal = program === 'migrate' ? [] : ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE']
      const read = [...Object.keys(programs[program].shape), ...temporal]
      const given = Object.keys(compose.services[program]?.environment ?? {})
      expect(given.length).toBeGreaterThan(0)
      expect(given.filter((name) => !read.includes(name))).toEqual([])
    },
  )

  it.each(Object.keys(programs) as (keyof typeof programs)[])(
    'passes on to %s every setting of .env that it reads',
    (program) => {
      // the proxy serves TLS, the certificates’ files are on the host, and the image knows its commit
      const notHere = ['TLS_CERT_FILE', 'TLS_KEY_FILE', 'CERTIFICATE_FILES', 'GIT_COMMIT']
      const needsNone = program === 'setup-temporal' ? ['ENVIRONMENT', 'DATABASE_URL', 'ALLOW_PLAINTEXT'] : []
      const read = Object.keys(programs[program].shape)
      const given = Object.keys(compose.services[program]?.environment ?? {})
      expect(read.filter((name) => ![...given, ...notHere, ...needsNone].includes(name))).toEqual([])
    },
  )

  it.each(['api', 'worker', 'staff', 'migrate'] as const)(
    'has %s start with what it gives, as a sandbox and as production',
    (program) => {
      const configOf = (variables: Record<string, string>) =>
        readConfig(program, {}, environmentOf(program, variables))
      const expected = { ALLOW_PLAINTEXT: ['database', 'temporal'] }
      expect(configOf(sandbox)).toMatchObject({ ...expected, ENVIRONMENT: 'sandbox' })
      expect(configOf(production)).toMatchObject({ ...expected, ENVIRONMENT: 'production' })
    },
  )

  it.each(['api', 'worker', 'staff'] as const)('lets %s of a production reach Temporal', (program) => {
    const environment = environmentOf(program, production)
    const temporal = readTemporal(readConfig(program, {}, environment), environment)
    expect(temporal.connectionOptions.address).toBe('temporal:7233')
  })

  it('connects the service as a role that is not the owner, which migrate alone knows', () => {
    const { POSTGRES_USER: owner } = environmentOf('postgres', sandbox)
    for (const program of ['api', 'worker', 'staff', 'migrate'])
      expect(new URL(environmentOf(program, sandbox).DATABASE_URL ?? '').username).not.toBe(owner)
    const migrate = environmentOf('migrate', sandbox)
    expect(new URL(migrate.MIGRATION_DATABASE_URL ?? '')).toMatchObject({
      username: owner,
      password: sandbox.POSTGRES_PASSWORD,
    })
  })

  it('tells each secret to those who use it', () => {
    const knowers = (secret: string) =>
      all.flatMap(([name]) =>
        Object.values(environmentOf(name, production)).some((value) => value.includes(secret)) ? name : [],
      )
    expect({
      encryptionKey: knowers(production.ENCRYPTION_KEY),
      owner: knowers(production.POSTGRES_PASSWORD),
      service: knowers(production.SERVICE_POSTGRES_PASSWORD),
      temporal: knowers(production.TEMPORAL_POSTGRES_PASSWORD),
      scores: knowers(production.SCORE_PROVIDER_TOKEN),
      mail: knowers(production.SMTP_URL),
    }).toEqual({
      encryptionKey: ['api', 'worker', 'staff'],
      owner: ['migrate', 'postgres'],
      service: ['api', 'worker', 'staff', 'migrate'],
      temporal: ['temporal-postgres', 'temporal-schema', 'temporal'],
      scores: ['worker'],
      mail: ['worker'],
    })
  })

  it('passes on what .env allows in plain text beside the database', () => {
    const { ALLOW_PLAINTEXT } = environmentOf('worker', { ...production, ALLOW_PLAINTEXT: 'smtp' })
    expect(ALLOW_PLAINTEXT).toBe('database,temporal,smtp')
  })

  it('publishes nothing but the proxy beyond loopback', () => {
    const published = all.flatMap(([name, { ports = [] }]) =>
      ports.map((port) => [name, interpolate(port, production)] as const),
    )
    expect(published.filter(([, port]) => !port.startsWith('127.0.0.1:')).map(([name]) => name)).toEqual([
      'proxy',
    ])
    expect(Object.fromEntries(published)).toMatchObject({
      api: `127.0.0.1:9464-9473:${environmentOf('api', production).METRICS_PORT}`,
      worker: `127.0.0.1:9474-9483:${environmentOf('worker', production).METRICS_PORT}`,
    })
  })

  describe('its archive of the WAL', () => {
    const { command = [], volumes } = compose.services.postgres ?? {}
    const settingOf = (name: string) =>
      command.find((argument) => argument.startsWith(`-c${name}=`))?.slice(`-c${name}=`.length) ?? ''
    const folder = '/var/lib/wal-archive'

    /** Runs a command as PostgreSQL does, with a folder of one's own as the archive. */
    function run(name: string, cwd: string, file: { f: string; p: string }): void {
      const line = settingOf(name)
        .replaceAll('%f', file.f)
        .replaceAll('%p', file.p)
        .replaceAll(folder, 'archive')
      execFileSync('sh', ['-c', line], { cwd, stdio: 'pipe' })
    }

    function prepare() {
      const cwd = temporaryFolder()
      mkdirSync(path.join(cwd, 'archive'))
      const write = (content: string) => writeFileSync(path.join(cwd, 'wal'), content)
      write('the first')
      const archived = () => readdirSync(path.join(cwd, 'archive'))
      return { cwd, write, archived, file: { f: '0000000100000000000000A5', p: 'wal' } }
    }

    it('is on a volume of its own, and at most a minute behind', () => {
      expect(volumes).toContain(`wal-archive:${folder}`)
      expect(settingOf('archive_mode')).toBe('on')
      expect(settingOf('archive_timeout')).toBe('60s')
    })

    it('gives back what it took', () => {
      const { cwd, file, archived } = prepare()
      run('archive_command', cwd, file)
      expect(archived()).toEqual([`${file.f}.gz`])
      run('restore_command', cwd, { ...file, p: 'restored' })
      expect(readFileSync(path.join(cwd, 'restored'), 'utf8')).toBe('the first')
    })

    it('takes the same file twice, and never another one of its name', () => {
      const { cwd, file, write } = prepare()
      run('archive_command', cwd, file)
      run('archive_command', cwd, file)
      write('another')
      expect(() => run('archive_command', cwd, file)).toThrow('Command failed')
      run('restore_command', cwd, { ...file, p: 'restored' })
      expect(readFileSync(path.join(cwd, 'restored'), 'utf8')).toBe('the first')
    })

    it('shows no file that could not be copied, and takes it later', () => {
      const { cwd, file, archived } = prepare()
      expect(() => run('archive_command', cwd, { ...file, p: 'missing' })).toThrow('Command failed')
      expect(archived()).not.toContain(`${file.f}.gz`)
      expect(() => run('restore_command', cwd, file)).toThrow('Command failed')
      run('archive_command', cwd, file)
      expect(archived()).toEqual([`${file.f}.gz`])
    })
  })

  it('rehearses production with what run.md writes', () => {
    const cwd = temporaryFolder()
    const [heredoc = ''] = /^cat > rehearsal\.env <<END\n.*?^END\n/ms.exec(textOf('docs/run.md')) ?? []
    execFileSync('sh', ['-c', heredoc], { cwd })
    const written = readFileSync(path.join(cwd, 'rehearsal.env'), 'utf8')
    const rehearsal = parseEnv(written) as Record<string, string>
    for (const program of ['api', 'worker', 'staff', 'migrate'] as const)
      expect(readConfig(program, {}, environmentOf(program, rehearsal)).ENVIRONMENT).toBe('production')
    // those that Compose reads itself, and whatever else is a name in its file
    const read = Object.keys(rehearsal).filter((name) => text.includes(`\${${name}:`))
    expect(Object.keys(rehearsal).filter((name) => !read.includes(name))).toEqual(['COMPOSE_PROFILES'])
  })
})
