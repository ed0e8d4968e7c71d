import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { Pool } from 'pg'

/**
 * The floor of the API: bare Fastify and `pg` with the same rows, and nothing else; one statement for each
 * request. No keys, no validation, no log.
 */
const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 20 })
const app = fastify()

interface Body {
  lead_id: number
  [field: string]: unknown
}

// as long as a body of the service
const webhook = JSON.stringify({ type: 'lead_received', data: 'x'.repeat(250) })
let events = Date.now() * 1000

app.post<{ Body: Body }>('/create-lead', async ({ body }) => {
  const { partner_lead_id, ...borrower } = body
  const { rows } = await pool.query<{ lead_id: number }>(
    `with lead as (
       insert into leads (partner_id, personal, partner_lead_id, status, next_position, next_sequence,
         last_event_at, created_at, updated_at)
       values (1, $1, $2, 'lead_received', 2, 2, now(), now(), now()) returning id
     ), event as (
       insert into lead_events (id, lead_id, partner_id, position, event_name, event_payload, dedupe_key, created_at)
       select $3, id, 1, 1, 'lead_received', $4, 'lead_received', now() from lead
     )
     insert into deliveries (event_id, lead_id, partner_id, sequence, body, next_attempt_at)
     select $3, id, 1, 1, $5, now() from lead returning lead_id`,
    [borrower, partner_lead_id, `evt_${events++}`, { partner_lead_id }, webhook],
  )
  return { success: true, lead_id: rows[0]?.lead_id }
})

app.post<{ Body: Body }>('/get-lead', async ({ body }) => {
  const { rows } = await pool.query(
    `select id, partner_id, partner_lead_id, personal, status, fico_range,
       loan_officer_id, created_at, updated_at from leads where id = $1`,
    [body.lead_id],
  )
  return { success: true, data: rows[0] }
})

app.post<{ Body: Body }>('/get-events', async ({ body }) => {
  const { rows } = await pool.query(
    'select event_name, event_payload, created_at from lead_events where lead_id = $1 order by position',
    [body.lead_id],
  )
  return { success: true, data: rows }
})

app.post<{ Body: Body }>('/update-partner-info', async ({ body: { lead_id, ...fields } }) => {
  await pool.query('update leads set loan_officer_id = $2, updated_at = now() where id = $1', [
    lead_id,
    JSON.stringify(fields),
  ])
  return { success: true }
})

await app.listen({ host: '127.0.0.1', port: 0 })
process.send?.({ type: 'ready', port: (app.server.address() as AddressInfo).port })
