import { randomBytes } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { recordAudit } from '../../src/core/audit/statements/audit.ts'
import { connect, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { provideStaffRoles } from '../../src/core/database/roles/staff-roles.ts'
import { atEnd } from '../support/at-end.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { carryOut, staff } from './context.ts'

const password = randomBytes(8).toString('hex')

describe('with a login of their own, staff', () => {
  let service: Service
  let partner: TestPartner
  let lead: number
  let database: string
  /** The environment of somebody's staff command. */
  const logins = { viewer: {}, staff: {}, nobody: {} } as Record<
    'viewer' | 'staff' | 'nobody',
    Record<string, string>
  >

  beforeAll(async () => {
    // roles have rights in the database, which is removed before them
    const roles: string[] = []
    const server = await connect(process.env.TEST_DATABASE_URL ?? '')
    atEnd(async () => {
      for (const role of roles) await raw`drop role ${raw.id(role)}`.execute(sqlOf(server))
      await server.close()
    })
    service = await prepareService()
    database = new URL(service.ownerUrl).pathname.slice(1)
    partner = await service.addPartner()
    await service.startWorker()
    lead = await leadsOf(service, partner).start()
    await provideStaffRoles(service.orm)
    for (const role of ['viewer', 'staff', 'nobody'] as const) {
      const login = `${database}_${role}_login`
      await raw`create role ${raw.id(login)} login password ${raw.lit(password)}`.execute(service.sql)
      if (role !== 'nobody')
        await raw`grant ${raw.id(`${database}_${role}`)} to ${raw.id(login)}`.execute(service.sql)
      roles.push(login)
      const url = new URL(service.ownerUrl)
      url.username = login
      url.password = password
      logins[role] = { ...service.environment, DATABASE_URL: url.href, STAFF_NAME: role }
    }
  }, 60_000)

  const commandsThatRead = () => [
    ['partner', 'list'],
    ['partner', 'show', `${partner.id}`],
    ['key', 'list', `${partner.id}`],
    ['endpoint', 'show', `${partner.id}`],
    ['lead', 'show', `${lead}`],
    ['lead', 'export', `${lead}`],
    ['access', 'report', '--lead', `${lead}`],
    ['access', 'report', '--partner', `${partner.id}`],
    ['delivery', 'list', '--partner', `${partner.id}`],
    ['delivery', 'replay', '--partner', `${partner.id}`, '--dry-run'],
    ['workflow', 'rebuild', '--dry-run'],
    ['workflow', 'repair'],
    ['workflow', 'watch', 'a-build', '--seconds', '0', '--at-least', '0'],
    ['record', 'show'],
    ['closing', 'list'],
    ['lead', 'list', '--stalled'],
    ['audit', 'list'],
    ['audit', 'export'],
    ['encryption', 'show'],
  ]
  const commandsThatAct = () => [
    ['partner', 'add', 'Second Lender', '--contact', 'tech@lender.example'],
    ['partner', 'contact', `${partner.id}`, 'tech@lender.example'],
    ['partner', 'self-service', `${partner.id}`, 'on'],
    ['partner', 'dormancy', `${partner.id}`, '180'],
    ['endpoint', 'notify', `${partner.id}`, 'lead.closed'],
    ['key', 'issue', `${partner.id}`],
    ['key', 'rotate', `${partner.id}`],
    ['key', 'revoke', '1'],
    ['endpoint', 'pause', `${partner.id}`],
    ['endpoint', 'set', `${partner.id}`, partner.endpoint.url, '--from-now'],
    ['endpoint', 'rotate-secret', `${partner.id}`],
    ['endpoint', 'resume', `${partner.id}`],
    ['endpoint', 'test', `${partner.id}`],
    ['milestone', `${lead}`, 'contract_signed'],
    ['lead', 'advance', `${lead}`, '--days', '1'],
    ['delivery', 'replay', '--partner', `${partner.id}`, '--state', 'all'],
    ['workflow', 'rebuild'],
    ['workflow', 'repair', '--yes'],
    ['lead', 'close', `${lead}`, '--reason', 'withdrew'],
    ['record', 'restored'],
  ]
  const auditCount = async () => {
    const { count } = await service.sql
      .selectFrom('audit')
      .select(({ fn }) => fn.countAll<string>().as('count'))
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  async function asLogin(login: keyof typeof logins): Promise<Sql> {
    const orm = await connect(logins[login].DATABASE_URL ?? '')
    atEnd(() => orm.close())
    return sqlOf(orm)
  }

  it('who are viewers read everything, and are refused whatever acts, before it does anything', async () => {
    expect(await carryOut(logins.viewer, commandsThatRead())).toEqual([])
    const before = await auditCount()
    const login = `${database}_viewer_login`
    const refusal = `The login ${login} may only read. To act, it needs the role ${database}_staff: grant ${database}_staff to ${login}`
    const commands = commandsThatAct()
    expect(await carryOut(logins.viewer, commands)).toEqual(commands.map(() => refusal))
    expect(await auditCount()).toBe(before)
    expect(await staff(logins.viewer, ['lead', 'show', `${lead}`])).toMatchObject({ code: 0, stderr: '' })
    const close = ['lead', 'close', `${lead}`, '--reason', 'withdrew']
    expect(await staff(logins.viewer, close)).toEqual({ code: 1, stdout: '', stderr: `${refusal}\n` })
  }, 60_000)

  it('who are members of no role read nothing', async () => {
    const { code, stderr } = await staff(logins.nobody, ['partner', 'list'])
    const login = `${database}_nobody_login`
    expect([code, stderr]).toEqual([
      1,
      `The login ${login} may not read this database. It needs the role ${database}_viewer, or ${database}_staff to act: grant ${database}_viewer to ${login}\n`,
    ])
  })

  it('of the role staff do what staff do, and the audit has their logins', async () => {
    const issue = ['key', 'issue', `${partner.id}`]
    expect(await staff(logins.staff, issue)).toMatchObject({ code: 0, stderr: '' })
    expect(await carryOut(logins.staff, [...commandsThatAct(), ...commandsThatRead()])).toEqual([])
    const who = await service.sql
      .selectFrom('audit')
      .select(['actor', 'database_user', 'os_user', 'host'])
      // not how a certification ended, which the worker writes
      .where('actor', '=', 'staff')
      .where('os_user', 'is not', null)
      .orderBy('id')
      .execute()
    expect(who[0]).toEqual({
      actor: 'staff',
      database_user: `${database}_staff_login`,
      os_user: userInfo().username,
      host: hostname(),
    })
    expect(new Set(who.map(({ database_user: login }) => login))).toEqual(
      new Set([`${database}_staff_login`]),
    )
  }, 60_000)

  it.each(['viewer', 'staff'] as const)('of the role %s own and alter nothing', async (role) => {
    const sql = await asLogin(role)
    const statements = [
      'create table more (id int)',
      'alter table audit disable trigger all',
      'drop trigger audit_only_grows on audit',
      'delete from audit',
      "update audit set actor = 'nobody'",
      'truncate audit',
      'delete from leads',
      "insert into lead_events (id) values ('evt_1')",
      'delete from mikro_orm_migrations',
      `set role ${role === 'viewer' ? `${database}_staff` : 'postgres'}`,
    ]
    for (const statement of statements)
      await expect(raw.raw(statement).execute(sql)).rejects.toThrow(/permission denied|must be owner/)
  })

  it.each([
    "insert into audit (actor, action, outcome) values ('key 1', 'key.issue', 'done')",
    "select nextval('audit_id_seq')",
    "update leases set until = 'infinity'",
    'select from leases for key share',
    'select from partners for share',
    'lock table audit in share mode',
    "insert into personal_reads (at, lead_id, partner_id, staff, what) values ('2026-01-01', 1, 1, 'ada', 'lead show')",
  ])('who are viewers may neither forge nor lock anything by %s', async (statement) => {
    const forged = (await asLogin('viewer')).transaction().execute((trx) => raw.raw(statement).execute(trx))
    await expect(forged).rejects.toThrow('permission denied')
  })

  it('appear in the audit under their login, whatever name they give', async () => {
    const sql = await asLogin('staff')
    await recordAudit(sql, 'key 1', { action: 'test.forged', outcome: 'done' })
    const forged = raw`insert into audit (actor, action, outcome, database_user) values ('key 1', 'test.forged', 'done', 'other')`
    await expect(forged.execute(sql)).rejects.toThrow('permission denied')
    const rows = await service.sql
      .selectFrom('audit')
      .select(['actor', 'database_user'])
      .where('action', '=', 'test.forged')
      .execute()
    const login = `${database}_staff_login`
    expect(rows).toEqual([{ actor: 'key 1', database_user: login }])
  })

  it.each(['viewer', 'staff'] as const)(
    'of the role %s leave reads with their login, at the time of the database',
    async (role) => {
      const before = Date.now()
      const { code } = await staff(logins[role], ['--as', 'ada', 'lead', 'show', `${lead}`])
      expect(code).toBe(0)
      const forged = raw`insert into personal_reads (at, lead_id, partner_id, staff, what)
      values ('2026-01-01', ${lead}, ${partner.id}, 'ada', 'lead show')`
      await expect(forged.execute(await asLogin(role))).rejects.toThrow('permission denied')
      const rows = await service.sql
        .selectFrom('personal_reads')
        .select(['staff', 'database_user', 'partner_id', 'at'])
        .where('staff', '=', 'ada')
        .where('database_user', '=', `${database}_${role}_login`)
        .execute()
      expect(rows).toEqual([
        {
          staff: 'ada',
          database_user: `${database}_${role}_login`,
          partner_id: partner.id,
          at: expect.any(Date),
        },
      ])
      expect(Number(rows[0]?.at)).toBeGreaterThan(before - 60_000)
      const { stdout } = await staff(logins[role], ['access', 'report', '--lead', `${lead}`])
      expect(stdout).toContain(`${database}_${role}_login as ada (`)
    },
  )

  it.each([
    'select hash from api_keys',
    'select ciphertext from endpoint_secrets',
    'update leads set notes = null',
  ])('who are viewers may not %s', async (statement) => {
    await expect(raw.raw(statement).execute(await asLogin('viewer'))).rejects.toThrow('permission denied')
  })
})
