import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { CommanderError } from 'commander'
import { beginRun } from '../../src/embedded/run.ts'
import { moment } from '../../src/staff/arguments.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openDatabase } from '../support/open-database.ts'
import { auditOf, contextOf, misuse, staff, staffProcess, withoutTemporal } from './context.ts'

const oneLine = expect.stringMatching(/^[^\n]+\n$/)

describe('the staff command', () => {
  let environment: Record<string, string>

  beforeAll(async () => {
    environment = withoutTemporal((await openDatabase()).url)
  })

  it('prints one JSON document with snake_case names, and writes down who did it', async () => {
    const adding = ['partner', 'add', 'Acme', '--json', '--as', 'Kim']
    const added = await staff({ ...environment, STAFF_NAME: 'Ada' }, adding)
    expect(added).toEqual({ code: 0, stdout: expect.any(String), stderr: '' })
    const { partner_id: partner } = JSON.parse(added.stdout)
    const issuing = ['--json', 'key', 'issue', `${partner}`]
    const issued = await staff({ ...environment, STAFF_NAME: 'Ada' }, issuing)
    expect(JSON.parse(issued.stdout)).toEqual({
      partner_id: partner,
      key_id: expect.any(Number),
      key: expect.stringMatching(/^prs_test_/),
      environment: 'sandbox',
    })
    const [first, second] = await auditOf(await contextOf(environment))
    expect(first).toMatchObject({ actor: 'Kim', action: 'partner.add', partner_id: partner })
    expect(second).toMatchObject({ actor: 'Ada', action: 'key.issue', partner_id: partner })
    expect(JSON.stringify(second)).not.toContain('prs_test_')
  })

  it('needs ENCRYPTION_KEY only for what is encrypted', async () => {
    const without = { ...environment, ENCRYPTION_KEY: '' }
    const added = await staff(without, ['partner', 'add', 'Acme', '--json'])
    expect(added).toMatchObject({ code: 0, stderr: '' })
    const partner = String(JSON.parse(added.stdout).partner_id)
    for (const reading of [
      ['partner', 'list'],
      ['key', 'list', partner],
      ['audit', 'list'],
    ])
      expect(await staff(without, reading)).toMatchObject({ code: 0, stderr: '' })
    expect(await staff(without, ['endpoint', 'set', partner, 'https://lender.example.com'])).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^ENCRYPTION_KEY is not set: this command reads or writes .*\n$/),
    })
  })

  it('requires a name for the audit, also where it only reads', async () => {
    expect(await staff({ ...environment, STAFF_NAME: '' }, ['partner', 'list'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Say who you are, for the audit: export STAFF_NAME=ada with your name, or add --as ada.\n',
    })
  })

  it('helps at every level, without a database', async () => {
    for (const args of [[], ['endpoint'], ['key', 'rotate']])
      expect(await staff({}, [...args, '--help'])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('Usage: npm run staff --'),
      })
  })

  it('ends with exit code 2 for wrong usage, with 1 for a failure, and one line on stderr', async () => {
    const cases: [number, string[]][] = [
      [2, ['partner', 'ad', 'Acme']],
      [2, ['milestone', '1']],
      [2, ['key', 'issue', '4294967296']],
      [2, ['key', 'rotate', '1', '--overlap', '8d']],
      [1, ['lead', 'show', '77']],
    ]
    const answers = await Promise.all(cases.map(([, args]) => staff(environment, args)))
    expect(answers).toEqual(cases.map(([code]) => ({ code, stdout: '', stderr: oneLine })))
  })

  it.each([
    ['an unknown milestone', ['milestone', '1', 'paid'], 'Use one of client_account_created, '],
    [
      'what is no id',
      ['partner', 'show', 'x'],
      "value 'x' is invalid for argument 'partner'. Use the partner’s number",
    ],
    ['an unknown command', ['lead', 'xyzzy'], "unknown command 'xyzzy'"],
    ['what is not JSON', ['milestone', '1', 'score_update', '--payload', '{gain}'], 'It is not JSON'],
    ['an id with a space', ['milestone', '1', 'score_update', '--id', 'a b'], 'Use 1 to 255 visible ASCII'],
    ['a reason in words', ['lead', 'close', '1', '--reason', 'has moved'], 'Use one of withdrew, '],
    [
      'a reference in words',
      ['lead', 'hold', '1', '--reason', 'litigation', '--reference', 'Miller'],
      'Use 1 to 40 capital letters, digits and hyphens',
    ],
  ])('refuses %s and says what it takes', async (_, args, rule) => {
    const { stderr, thrown } = await misuse(args)
    expect(thrown).toBeInstanceOf(CommanderError)
    expect(stderr).toEqual(oneLine)
    expect(stderr.toLowerCase()).toContain(rule.toLowerCase())
  })

  it('says what to do when there is nothing to work on, or PostgreSQL is away', async () => {
    const away = { ...environment, DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }
    for (const [where, line] of [
      [{}, /^.*npm start.*DATABASE_URL.*\n$/],
      [away, /^PostgreSQL does not answer[^\n]*\n$/],
    ] as const)
      expect(await staff(where, ['partner', 'list'])).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(line),
      })
  })

  it('works on the sandbox that runs beside it', async () => {
    const folder = temporaryFolder()
    const tellOthers = await beginRun(path.join(folder, '.data'))
    tellOthers(environment)
    const { code, stdout } = await staffProcess({}, ['partner', 'list'], { cwd: folder })
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('First Lender') })
  })

  it('ends quietly when its reader goes away, as head does', async () => {
    const unread = await staffProcess(environment, ['audit', 'export'], { isRead: false })
    expect(unread).toEqual({ code: 0, stdout: '', stderr: '' })
  })
})

describe('the moment of --since', () => {
  it.each([
    ['2026-03-02T15:04:05.120Z', '2026-03-02T15:04:05.120Z'],
    ['2026-03-02 15:04:05', '2026-03-02T15:04:05Z'],
    ['2026-03-02 15:04 UTC', '2026-03-02T15:04:00Z'],
    ['2026-03-02', '2026-03-02T00:00:00Z'],
  ])('can be %s', (text, expected) => {
    expect(moment(text)).toEqual(new Date(expected))
  })

  it.each(['', '2026-13-02', '2026-03-02T25:00', 'yesterday'])('cannot be %j', (text) => {
    expect(() => moment(text)).toThrow('Use a time')
  })
})
