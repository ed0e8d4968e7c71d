import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import type { inbox } from '../../src/staff/attention-command.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { TASK_QUEUE } from '../../src/temporal/names.ts'
import { inboxKinds, staffProgram } from '../../src/staff/program.ts'
import { temporaryFolder } from '../support/folder.ts'
import { leadsOf } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'
import { makeCertificate } from '../webhooks/certificate.ts'
import { contextOf, staff } from './context.ts'

type Inbox = Awaited<ReturnType<typeof inbox>>
type Item = Inbox['json']['items'][number]

const AGO = raw<Date>`now() - interval '2 hours'`

describe('staff inbox', () => {
  let service: Service
  let context: StaffContext
  let mail: Awaited<ReturnType<typeof startMailServer>>
  const settings: Record<string, string> = {}

  beforeAll(async () => {
    mail = await startMailServer()
    settings.SMTP_URL = mail.url
    settings.SMTP_CATCHER = 'true'
    settings.STAFF_EMAIL = 'staff@example.com'
    settings.ERASURE_LOG = path.join(temporaryFolder(), 'erasures.jsonl')
    service = await prepareService(settings)
    context = await contextOf(service.environment)
  }, 60_000)

  /** Carries a command line out in this process. */
  async function carryOut(line: string, on = context): Promise<Inbox> {
    let answer: unknown
    const program = staffProgram(
      (act) =>
        async (...args) =>
          void (answer = await act(on, ...args)),
    )
    await program.parseAsync(line.split(' '), { from: 'user' })
    return answer as Inbox
  }
  const look = (on = context) => carryOut('inbox', on)
  const itemsOf = async (kind: string, on = context) =>
    (await look(on)).json.items.filter((item) => item.kind === kind)
  async function theOnly(kind: string, on = context): Promise<Item> {
    const items = await itemsOf(kind, on)
    expect([kind, items.length]).toEqual([kind, 1])
    return items[0]!
  }
  const mend = async ({ mend: line }: Item) =>
    carryOut(line.replace('npm run staff -- ', '').replace('EMAIL', 'tech@lender.example'))
  async function goneOnceMended(kind: string): Promise<Item> {
    const item = await theOnly(kind)
    await mend(item)
    expect([kind, await itemsOf(kind)]).toEqual([kind, []])
    return item
  }

  const update = async (statement: ReturnType<typeof raw>) => void (await statement.execute(service.sql))
  let partner: TestPartner
  const newPartner = async () => (partner = await service.addPartner())
  const newLead = () => leadsOf(service, partner).commit()

  it('shows kinds in the order that docs/operations/support.md says', () => {
    const page = readFileSync(path.join(import.meta.dirname, '../../docs/operations/support.md'), 'utf8')
    const [, section = ''] = page.split('## The inbox')
    const rows = section.matchAll(/^\| `([^`]+)` +\|/gm)
    expect(Array.from(rows, ([, kind]) => kind)).toEqual(inboxKinds)
  })

  it('says that no worker runs, or that Temporal is away', async () => {
    expect(await theOnly('temporal')).toMatchObject({
      what: expect.stringMatching(/^No worker asks Temporal/),
    })
    const away = await contextOf({ ...service.environment, TEMPORAL_ADDRESS: '127.0.0.1:1' })
    const { json, text, exitCode } = await look(away)
    expect(json.items.map(({ kind }) => kind)).toEqual(['temporal'])
    expect(text).toMatch(/^Temporal does not answer at 127\.0\.0\.1:1: no workflow goes on\.\n {2}since +-\n/)
    expect(exitCode).toBe(3)
  })

  it('says how many leads wait for Temporal or a worker, and offers no rebuild', async () => {
    const id = (await newPartner()).id
    const lead = await newLead()
    await newLead()
    await update(raw`update leads set created_at = ${AGO} where id = ${lead}`)
    const away = await contextOf({ ...service.environment, TEMPORAL_ADDRESS: '127.0.0.1:1' })
    for (const on of [context, away]) {
      const { items } = (await look(on)).json
      expect(items.map(({ kind }) => kind)).toEqual(['temporal'])
      expect(items[0]).toMatchObject({ touches: { leads: 2, partners: 1 } })
      expect(Date.now() - (items[0]?.since?.getTime() ?? 0)).toBeCloseTo(7_200_000, -5)
    }
    const found = await carryOut(`find ${lead}`, away)
    expect(found.text).toContain('Temporal does not answer at 127.0.0.1:1')
    expect(found.text).not.toContain('workflow rebuild')
    await update(raw`update leads set workflow_started_at = now() where partner_id = ${id}`)
    // in Temporal, there is none
    expect((await carryOut(`find ${lead}`)).text).toContain(
      'Its workflow is NOT_FOUND: a worker starts it again from the record',
    )
    expect((await carryOut(`lead show ${lead}`, away)).text).toMatch(
      /^status +UNKNOWN\nwhy +Temporal does not answer/m,
    )
  })

  it('has leads without a workflow, while a worker is there, until they are started', async () => {
    const other = await prepareService()
    const on = await contextOf(other.environment)
    const lead = await leadsOf(other, await other.addPartner()).commit()
    await raw`update leads set created_at = ${AGO} where id = ${lead}`.execute(other.sql)
    // a worker that asked once; Temporal refuses to wait for less than two seconds
    await on.client
      .withDeadline(Date.now() + 3000, () =>
        on.client.workflowService.pollWorkflowTaskQueue({
          namespace: on.temporal.namespace,
          taskQueue: { name: TASK_QUEUE },
          identity: 'a worker',
        }),
      )
      .catch(() => undefined)
    expect(await theOnly('leads without a workflow', on)).toMatchObject({
      since: expect.any(Date),
      touches: { leads: 1, partners: 1 },
      mend: 'npm run staff -- workflow rebuild',
    })
    await carryOut('workflow rebuild', on)
    expect(await itemsOf('leads without a workflow', on)).toEqual([])
  }, 60_000)

  it('has webhooks that cannot be signed, and lead show says why', async () => {
    const { id } = await newPartner()
    const lead = await newLead()
    const fault = 'ENCRYPTION_KEY lacks the key 0a1b2c3d: add it after the current one, separated by a comma'
    await update(raw`update deliveries set fault = ${fault} where lead_id = ${lead}`)
    expect(await theOnly('webhooks not sent')).toMatchObject({
      what: expect.stringMatching(new RegExp(`^Webhooks of partner ${id}, .* cannot be sent: ${fault}\\.$`)),
      touches: { webhooks: 1, leads: 1 },
    })
    expect((await carryOut(`lead show ${lead}`)).text).toContain(fault)
    await update(raw`update deliveries set state = 'delivered', settled_at = now() where lead_id = ${lead}`)
    expect(await itemsOf('webhooks not sent')).toEqual([])
    expect((await carryOut(`lead show ${lead}`)).text).not.toContain(fault)
  })

  it('has endpoints that are paused or fail until they are resumed', async () => {
    const { id } = await newPartner()
    await newLead()
    const state = (columns: string) =>
      update(raw`update endpoints set ${raw.raw(columns)} where partner_id = ${id}`)
    await state("state = 'paused', paused_by = 'service', reason = 'gone'")
    expect(await goneOnceMended('endpoints')).toMatchObject({
      what: expect.stringMatching(/ is paused: it answered 410 Gone\. /),
      touches: { webhooks: 1, leads: 1 },
      mend: `npm run staff -- endpoint resume ${id}`,
    })
    await state("state = 'active', failing_since = now() - interval '11 minutes'")
    expect(await goneOnceMended('endpoints')).toMatchObject({ what: expect.stringContaining(' fails: ') })
    await state("state = 'paused', paused_by = 'partner', reason = 'partner'")
    await goneOnceMended('endpoints')
    await state("state = 'paused', paused_by = 'service', reason = 'no_endpoint', url = null")
    expect(await theOnly('endpoints')).toMatchObject({
      mend: `npm run staff -- endpoint set ${id} https://…`,
    })
    // paused on purpose, and nothing waits
    await update(raw`update deliveries set state = 'canceled', settled_at = now() where partner_id = ${id}`)
    await state("state = 'paused', paused_by = 'staff', url = 'https://a.example'")
    expect(await itemsOf('endpoints')).toEqual([])
  })

  it('has keys that end while they are needed, since they were issued or thirty days before their end', async () => {
    const { id } = await newPartner()
    const isFrom = raw`partner_id = ${id} and expires_at is not null`
    await update(raw`update api_keys set expires_at = now() + interval '29 days' where partner_id = ${id}`)
    const { since, ...item } = await theOnly('keys')
    expect(Date.now() - (since?.getTime() ?? 0)).toBeLessThan(60_000)
    expect(item).toMatchObject({ mend: `npm run staff -- key issue ${id}` })
    await update(raw`update api_keys set created_at = now() - interval '1 year' where ${isFrom}`)
    expect(Date.now() - ((await goneOnceMended('keys')).since?.getTime() ?? 0)).toBeCloseTo(86_400_000, -5)
    await update(raw`update api_keys set expires_at = now() where ${isFrom}`)
  })

  it('has an old key that is still in use once half of its overlap is over, and does not revoke it', async () => {
    const { id } = await newPartner()
    await update(
      raw`update api_keys set created_at = now() - interval '1 year', last_used_at = now() where partner_id = ${id}`,
    )
    await carryOut(`key rotate ${id} --overlap 24h`)
    expect(await itemsOf('keys')).toEqual([])
    await update(raw`
      update api_keys set created_at = created_at - interval '13 hours', expires_at = expires_at - interval '13 hours'
      where partner_id = ${id}`)
    const item = await theOnly('keys')
    expect(item.mend).toBe(`npm run staff -- key list ${id}`)
    expect(Date.now() - (item.since?.getTime() ?? 0)).toBeCloseTo(3_600_000, -5)
    await mend(item)
    expect(await itemsOf('keys')).toEqual([item])
    await update(
      raw`update api_keys set expires_at = now() where partner_id = ${id} and expires_at is not null`,
    )
  })

  it('has open leads without news for a year, which are then listed', async () => {
    const { id } = await newPartner()
    const [old, young, ready, closed] = [await newLead(), await newLead(), await newLead(), await newLead()]
    await update(
      raw`update leads set last_event_at = now() - interval '366 days' where id <> ${young} and partner_id = ${id}`,
    )
    await update(raw`update leads set status = 'mortgage_ready' where id = ${ready}`)
    await update(raw`update leads set closed_at = now(), close_reason = 'withdrew' where id = ${closed}`)
    const item = await theOnly('leads without news')
    expect(item).toMatchObject({
      since: expect.any(Date),
      touches: { leads: 1, partners: 1 },
      mend: 'npm run staff -- lead list --without-news',
    })
    await expect(mend(item)).resolves.toMatchObject({ json: { leads: [{ lead_id: old, partner_id: id }] } })
    await update(raw`update leads set last_event_at = now() where id = ${old}`)
  })

  it('has certificates that end within thirty days, or cannot be read', async () => {
    const folder = temporaryFolder()
    const files = [5, 300].map((days, index) => {
      const file = path.join(folder, `${index}.crt`)
      writeFileSync(file, makeCertificate({ host: 'localhost', until: days }).cert)
      return file
    })
    const CERTIFICATE_FILES = [...files, path.join(folder, 'none.crt')].join(', ')
    const items = await itemsOf(
      'certificates',
      await contextOf({ ...service.environment, CERTIFICATE_FILES }),
    )
    expect(items.map(({ what }) => what)).toEqual([
      expect.stringMatching(/none\.crt cannot be read: ENOENT/),
      expect.stringMatching(/0\.crt ends on 20/),
    ])
  })

  it('shows the first of each kind, and says how many more there are', async () => {
    const partners = []
    for (let count = 0; count < 4; count += 1) partners.push((await newPartner()).id)
    await update(raw`
      update endpoints set state = 'paused', paused_by = 'service', reason = 'gone' where partner_id = any(${partners})`)
    const { json, text } = await carryOut('inbox --limit 3')
    expect(json).toMatchObject({ not_listed: { endpoints: 1 } })
    expect(text).toMatch(/\n\nand 1 more\n\n/)
    for (const id of partners) await carryOut(`endpoint resume ${id}`)
  })

  it('is empty once every command was run and a worker did the rest', async () => {
    const { id } = await newPartner()
    const leads = leadsOf(service, partner)
    const [givenUp, unmailed] = [await leads.start(), await leads.start()]
    await update(raw`update deliveries set state = 'given_up', settled_at = now() where lead_id = ${givenUp}`)
    await update(raw`
      insert into onboarding_mails (lead_id, partner_id, claimed_at) values (${unmailed}, ${id}, ${AGO})`)
    await update(
      raw`insert into notices (partner_id, kind, owed_at) values (${id}, 'failing', date_trunc('milliseconds', ${AGO}))`,
    )
    const { json } = await look()
    expect(json.items.map(({ kind }) => kind)).toEqual([
      'temporal',
      'webhooks given up',
      'emails about endpoints',
      'emails to borrowers',
    ])
    await service.startWorker(settings)
    for (const item of json.items.filter(({ mend: line }) => line.startsWith('npm run staff')))
      await mend(item)
    let left = json.items
    const isEmpty = async () => (left = (await look()).json.items).length === 0
    await until(isEmpty).catch(() => undefined)
    expect(left).toEqual([])
    expect(await staff(service.environment, ['inbox'])).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Nothing needs a person\.\n\nWorkflows whose task fails are not listed/),
      stderr: '',
    })
  }, 90_000)

  it('ends with 3 where something waits, and prints it as JSON', async () => {
    const { id } = await newPartner()
    await update(raw`update api_keys set expires_at = now() + interval '1 day' where partner_id = ${id}`)
    const { code, stdout } = await staff(service.environment, ['inbox', '--json'])
    expect([code, JSON.parse(stdout)]).toMatchObject([
      3,
      { items: [{ kind: 'keys', touches: { partners: 1 } }] },
    ])
  })
})
