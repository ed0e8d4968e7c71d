import { beforeAll, describe, expect, it } from '@jest/globals'
import type { KyselyPlugin } from 'kysely'
import { recordMilestones } from '../../src/leads/record-milestones.ts'
import { sqlOf } from '../../src/database/sql.ts'
import { addAttempts } from '../support/attempts.ts'
import { until } from '../support/until.ts'
import { type Answer, type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'
import { sandboxOf } from '../support/sandbox/api.ts'
import { openApiDocument } from '../http/openapi-document.ts'

const COLUMN = 'a_new_column'
/** What partners and their endpoints have sent is answered as it is. */
const SENT = ['metadata', 'headers', 'response_headers', 'event_payload']

/** Each row has one more column, and each object in it one more property. */
const addColumn: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  transformResult: async ({ result }) => ({ ...result, rows: result.rows.map(withColumn) }),
}

const withColumn = (row: object) => ({
  ...Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, SENT.includes(name) ? value : inside(value)]),
  ),
  [COLUMN]: COLUMN,
})

function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside)
  return Object.getPrototypeOf(value ?? 0) === Object.prototype ? withColumn(value as object) : value
}

describe('a column that is added to a table', () => {
  let api: Api
  let partner: ApiPartner
  let lead_id: number
  let event_id: string

  beforeAll(async () => {
    api = await prepareApi({
      changeRows: addColumn,
      // as if the event had just been recorded
      sandbox: (sql) => ({
        ...sandboxOf(sql),
        simulate: async () => [{ outcome: 'recorded', event_id }],
      }),
    })
    partner = await api.addPartner()
    const { body } = await partner.post('sandbox/use-sink', {})
    await api.send({ method: 'POST', url: new URL(body.data.url).pathname, payload: '{}' })
    const created = await partner.post('create-lead', borrower, { 'idempotency-key': 'LOAN-1' })
    ;({ lead_id } = created.body)
    const sql = sqlOf(api.orm)
    const milestone = { name: 'contract_signed', dedupeKey: 'contract_signed' } as const
    await recordMilestones(sql, lead_id, [milestone], () => '{}')
    await addAttempts(sql, partner.id, [{ errorCode: 'timeout' }])
    ;[{ event_id }] = (await partner.post('get-deliveries', {})).body.data
    // transactions in the server's other databases hold events back for a moment
    await until(async () => (await partner.post('list-events', {})).body.data.length > 0)
  })

  it('is in the rows that the API reads', async () => {
    expect(await api.sql.selectFrom('partners').select('id').execute()).toEqual([
      { id: partner.id, [COLUMN]: COLUMN },
    ])
  })

  it('is in no response', async () => {
    const answers: Record<string, Answer['body']> = {}
    // nothing happens in a lead that is closed, and nothing is read of one that is erased
    const ends = ['/close-lead', '/export-lead', '/erase-lead']
    const rank = ([path]: [string, unknown]) => ends.indexOf(path)
    const operations = Object.entries(openApiDocument.paths).toSorted((a, b) => rank(a) - rank(b))
    for (const [path, { post }] of operations) {
      const examples = Object.values(post?.requestBody?.content['application/json'].examples ?? {})
      for (const { value } of post === undefined ? [] : examples) {
        const own = {
          ...('lead_id' in value && { lead_id }),
          ...('event_id' in value && { event_id }),
        }
        const { status, text, body } = await partner.post(path.slice(1), {
          ...value,
          ...own,
          wait: undefined,
        })
        expect([path, status, text]).toEqual([path, 200, expect.not.stringContaining(COLUMN)])
        answers[path] ??= body
      }
    }
    // what they have read
    const some = expect.arrayContaining([expect.anything()])
    expect(answers).toMatchObject({
      '/get-events': { data: [{}, {}] },
      '/list-events': { data: some },
      '/list-leads': { data: some },
      '/get-deliveries': { data: [{ waits_for: {} }, { attempts: some }] },
      '/get-endpoint': { data: { last_error: {}, oldest_waiting: {} } },
      '/export-lead': {
        data: { deliveries: [{ attempts: some }, {}], idempotency_keys: some, actions: some },
      },
      '/sandbox/simulate-event': { data: { events: some } },
      '/sandbox/get-sink': { data: { webhooks: some } },
    })
  })
})
