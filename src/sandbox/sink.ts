import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../database/columns.ts'
import { ApiError } from '../http/errors.ts'

/** An endpoint of ours that a sandbox partner uses as its own, and how it answers. */
export const Sink = defineEntity({
  name: 'Sink',
  tableName: 'sinks',
  properties: {
    partnerId: p.integer().primary().autoincrement(false),
    /** The last part of its URL. */
    token: p.text(),
    /** What it answers to a webhook with a valid signature. */
    status: p.integer().default(200),
    /** How many more webhooks get this answer before the usual one; null for all. */
    timesLeft: p.integer().nullable(),
    /** Before it answers. */
    delayMs: p.integer().default(0),
  },
})

/** A request that arrived at a sink: the last hundred of each are kept. */
export const SinkWebhook = defineEntity({
  name: 'SinkWebhook',
  tableName: 'sink_webhooks',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partnerId: p.integer(),
    receivedAt: instant().defaultRaw('clock_timestamp()'),
    webhookId: p.text(),
    headers: p.json<Record<string, string>>(),
    body: p.text(),
    /** Why its signature is not valid; null if it is. */
    problem: p.text().nullable(),
    status: p.integer(),
  },
})

/** How a sink answers without set-sink, or after its `times`. */
export const USUAL = { status: 200, delay_ms: 0 }

/** How many requests of a sink are kept. */
export const MOST_KEPT = 100

/** The path of a sink, below `/v1`. */
export const sinkPath = (token: string) => `/sandbox/sinks/${token}`

export const noSink = () =>
  new ApiError('NO_ENDPOINT', 'You have no sink yet. Make one with POST /v1/sandbox/use-sink.')
