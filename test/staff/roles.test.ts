import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { connect } from '../../src/database/orm.ts'
import { type Sql, sqlOf } from '../../src/database/sql.ts'
import { atEnd } from '../support/at-end.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { carryOut, staff } from './context.ts'

const password = randomBytes(8).toString('hex')

describe('with a login of their own, staff', () => {
  let service: Service
  let partner: TestPartner
  let lead: number
  let login: string
  /** The environment of somebody's staff command. */
  const logins = { staff: {}, nobody: {} } as Record<'staff' | 'nobody', Record<string, string>>

  beforeAll(async () => {
    const roles: string[] = []
    const server = await connect(process.env.TEST_DATABASE_URL ?? '')
    atEnd(async () => {
      for (const role of roles) await raw`drop role ${raw.id(role)}`.execute(sqlOf(server))
      await server.close()
    })
    service = await prepareService()
    login = `ada_${randomBytes(4).toString('hex')}`
    partner = await service.addPartner()
    await service.startWorker()
    lead = await leadsOf(service, partner).start()
    for (const [who, name] of [
      ['staff', login],
      ['nobody', `${login}_nobody`],
    ] as const) {
      await raw`create role ${raw.id(name)} login password ${raw.lit(password)}`.execute(service.sql)
      roles.push(name)
      const url = new URL(service.ownerUrl)
      url.username = name
      url.password = password
      logins[who] = { ...service.environment, DATABASE_URL: url.href, STAFF_NAME: who }
    }
    await raw`grant referrals_staff to ${raw.id(login)}`.execute(service.sql)
  }, 60_000)

  const commandsThatRead = () => [
    ['partner', 'list'],
    ['partner', 'show', `${partner.id}`],
    ['key', 'list', `${partner.id}`],
    ['endpoint', 'show', `${partner.id}`],
    ['lead', 'show', `${lead}`],
    ['lead', 'export', `${lead}`],
    ['lead', 'find', `lead-${lead}`],
    ['delivery', 'list', '--partner', `${partner.id}`],
    ['delivery', 'replay', '--partner', `${partner.id}`, '--dry-run'],
    ['lead', 'list'],
    ['audit', 'list'],
    ['audit', 'export'],
    ['encryption', 'show'],
    ['attention'],
    ['retention', '--dry-run'],
  ]
  const commandsThatAct = () => [
    ['partner', 'add', 'Second Lender', '--contact', 'tech@lender.example'],
    ['partner', 'contact', `${partner.id}`, 'tech@lender.example'],
    ['key', 'issue', `${partner.id}`],
    ['key', 'rotate', `${partner.id}`],
    ['key', 'revoke', '1'],
    ['endpoint', 'pause', `${partner.id}`],
    ['endpoint', 'set', `${partner.id}`, partner.endpoint.url, '--from-now'],
    ['endpoint', 'rotate-secret', `${partner.id}`],
    ['endpoint', 'resume', `${partner.id}`],
    ['endpoint', 'test', `${partner.id}`],
    ['milestone', `${lead}`, 'contract_signed'],
    ['delivery', 'replay', '--partner', `${partner.id}`, '--state', 'all'],
    ['workflow', 'rebuild'],
    ['lead', 'close', `${lead}`, '--reason', 'withdrew'],
    ['retention'],
    ['record', 'restored'],
  ]

  async function asStaff(): Promise<Sql> {
    const orm = await connect(logins.staff.DATABASE_URL ?? '')
    atEnd(() => orm.close())
    return sqlOf(orm)
  }

  it('without the role can do nothing, and are told which role they need', async () => {
    const { code, stderr } = await staff(logins.nobody, ['partner', 'list'])
    expect([code, stderr]).toEqual([
      1,
      'PostgreSQL: permission denied for table mikro_orm_migrations. Your login needs the role referrals_staff: grant referrals_staff to it\n',
    ])
  })

  it('do what staff do, and the audit has their login', async () => {
    expect(await staff(logins.staff, ['key', 'issue', `${partner.id}`])).toMatchObject({
      code: 0,
      stderr: '',
    })
    expect(await carryOut(logins.staff, [...commandsThatAct(), ...commandsThatRead()])).toEqual([])
    const who = await service.sql
      .selectFrom('audit')
      .select('database_user')
      .where('actor', '=', 'staff')
      .execute()
    expect(new Set(who.map(({ database_user: name }) => name))).toEqual(new Set([login]))
  }, 60_000)

  it('leave a row each time that they see a borrower', async () => {
    const looks = [
      ['lead', 'show', `${lead}`],
      ['lead', 'export', `${lead}`],
      ['lead', 'find', `lead-${lead}`],
    ]
    for (const look of looks)
      expect(await staff(logins.staff, ['--as', 'looker', ...look])).toMatchObject({ code: 0, stderr: '' })
    const rows = await service.sql
      .selectFrom('audit')
      .select(['action', 'outcome', 'lead_id', 'partner_id', 'database_user', 'detail'])
      .where('actor', '=', 'looker')
      .orderBy('id')
      .execute()
    const row = { outcome: 'done', lead_id: lead, partner_id: partner.id, database_user: login }
    expect(rows).toEqual([
      { ...row, action: 'lead.show', detail: null },
      { ...row, action: 'lead.export', detail: null },
      { ...row, action: 'lead.find', detail: { lead_ids: [lead] } },
    ])
  })

  it.each([
    'create table more (id int)',
    'alter table audit disable trigger all',
    "insert into audit (actor, action, outcome, database_user) values ('ada', 'test', 'done', 'other')",
    "insert into lead_events (id) values ('evt_1')",
    'delete from mikro_orm_migrations',
    'set role postgres',
  ])('may not %s', async (statement) => {
    await expect(raw.raw(statement).execute(await asStaff())).rejects.toThrow(
      /permission denied|must be owner/,
    )
  })
})
