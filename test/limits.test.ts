import { readdirSync, readFileSync } from 'node:fs'
import { maxHeaderSize } from 'node:http'
import path from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { z } from 'zod'
import { LONGEST_QUERY, MOST_HITS, MOST_WORDS } from '../src/capabilities/guides/searching.ts'
import { EXPORT_LEASE_SECONDS } from '../src/capabilities/access/statements/export-lease.ts'
import { MOST_CLOSINGS_A_DAY } from '../src/capabilities/closing/decisions/closing.ts'
import { MOST_ERASURES_A_DAY } from '../src/capabilities/erasure/decisions/erasure.ts'
import { KEPT_DAYS, MOST_KEPT } from '../src/capabilities/requests/decisions/request-age.ts'
import { MOST_A_SECOND } from '../src/capabilities/requests/request-log.ts'
import { FAULT_ENDS_AFTER_MS } from '../src/capabilities/sandbox/decisions/sink-fault.ts'
import { MOST_DAYS_AGO } from '../src/capabilities/sandbox/routes/simulated-event.ts'
import { HOUR_MS } from '../src/core/values/durations.ts'
import { MOST_DAYS } from '../src/capabilities/sandbox/decisions/lead-clock.ts'
import { MOST_RUNS } from '../src/capabilities/sandbox/decisions/sandbox-runs.ts'
import { MOST_A_MINUTE, MOST_BYTES } from '../src/capabilities/sandbox/routes/sink.ts'
import { WAIT_MS as SINK_MS } from '../src/capabilities/sandbox/self-service/routes/use-sink.ts'
import { WAIT_MS as CLOCK_MS } from '../src/capabilities/sandbox/workflows/clocks.ts'
import { WAIT_MS as SCENARIO_MS } from '../src/capabilities/sandbox/workflows/scenarios.ts'
import { BEGINNING, KEPT } from '../src/capabilities/sandbox/statements/sinks.ts'
import { apiPatience } from '../src/app.ts'
import { inProduction } from '../src/config.ts'
import { programs } from '../src/config/schema.ts'
import { ENDPOINT_CAP, MOST_ATTEMPTS, REQUEST_LIMIT_MS } from '../src/core/deliveries/decisions/delivery.ts'
import {
  PAUSE_AFTER_HOURS,
  RETRY_DELAYS_MS,
  SCHEDULE_DAYS,
} from '../src/core/deliveries/decisions/retry-schedule.ts'
import { ATTEMPTS } from '../src/core/deliveries/statements/attempts.ts'
import { MOST_RESENDS } from '../src/core/deliveries/statements/resend-marks.ts'
import { MAX_URL_LENGTH } from '../src/core/deliveries/webhooks/endpoint-url.ts'
import {
  KEEP_BYTES,
  KEEP_HEADER_LENGTH,
  KEEP_HEADERS,
  KEEP_HEADERS_LENGTH,
  READ_BYTES,
} from '../src/core/deliveries/webhooks/response.ts'
import { endpointLimits, MOST_CHANGES_A_DAY } from '../src/core/endpoints/decisions/endpoint-change.ts'
import { MOST_AN_HOUR } from '../src/core/endpoints/statements/notices.ts'
import { MOST_LIVE } from '../src/core/endpoints/statements/secrets.ts'
import { LINGER_MS } from '../src/core/http/client-errors.ts'
import { errorCatalogue } from '../src/core/http/errors.ts'
import { MAX_FAULTS } from '../src/core/http/faults.ts'
import { BODY_LIMIT, connectionLimits } from '../src/core/http/http-server.ts'
import { MOST_IGNORED, MOST_NAMED } from '../src/core/http/unknown-fields.ts'
import { MOST_YEARS } from '../src/core/leads/decisions/clock.ts'
import { MOST_SIMULATED } from '../src/core/leads/decisions/milestone-keys.ts'
import { LARGEST_GAIN } from '../src/core/leads/decisions/event-payloads.ts'
import { MOST_EVENTS } from '../src/core/leads/decisions/recording-decision.ts'
import { MOST_WAITS } from '../src/core/leads/routes/feed-watch.ts'
import { MOST_SECONDS } from '../src/core/leads/routes/list-events.ts'
import { MOST_FIELDS } from '../src/core/leads/routes/update-partner-info.ts'
import { MAX_CUSTOM_FIELDS } from '../src/core/leads/statements/update-lead.ts'
import { LARGEST_ID } from '../src/core/values/ids.ts'
import { DEEPEST_JSON } from '../src/core/values/json-depth.ts'
import { openApiDocument } from './api/openapi-document.ts'

const root = path.join(import.meta.dirname, '..')
const count = (value: number) => value.toLocaleString('en')
const seconds = (ms: number) => `${ms / 1000} s`
const kib = (bytes: number) => `${bytes / 1024} KiB`
const perMinute = `${inProduction.RATE_LIMIT} a minute in production, unless agreed otherwise; none in a sandbox`
const often = ({ inARow, everyMinutes }: { inARow: number; everyMinutes: number }) =>
  `${inARow} in a row, and then one every ${everyMinutes} minutes`
const byDefault = (setting: z.ZodType) => count(Number(setting.parse(undefined)))
const { api, worker } = { api: programs.api.shape, worker: programs.worker.shape }

/** The largest value of a field of a request, by the reference. */
function most(schema: string, field: string): string {
  const found = boundsOf(schema).find((bound) => bound.field === field)
  if (found === undefined) throw new Error(`${schema} has no bound of ${field}`)
  return count(found.most)
}
const lead = (field: string) => most('CreateLeadRequest', field)
const characters = (text: string) => `${text} characters`

/** Every limit of the service with its value, as `docs/limits.md` lists them. */
const limits: Record<string, string> = {
  // how often
  'requests of a partner': perMinute,
  'requests from an address without a key': perMinute,
  'requests from an address whose keys are refused, or missing where one is needed': perMinute,
  '`erase-lead`, by partner': `${MOST_ERASURES_A_DAY} in 24 hours`,
  '`close-lead`, by partner': `${MOST_CLOSINGS_A_DAY} in 24 hours; canceling is not limited`,
  '`set-endpoint`, `rotate-endpoint-secret`, `pause-endpoint`, `resume-endpoint`, `test-endpoint` and `use-sink` together, by partner':
    often(endpointLimits.actions),
  '`certify-endpoint`, by partner': often(endpointLimits.certifications),
  'changes of URL and secret that are announced, in production, by partner': `${MOST_CHANGES_A_DAY} in 24 hours`,
  'emails to a partner about an endpoint that fails, webhooks that are given up, and pauses': `${MOST_AN_HOUR.failing}, ${MOST_AN_HOUR.given_up} and ${MOST_AN_HOUR.paused} an hour`,
  'onboarding emails to one address': `${byDefault(worker.ONBOARDING_MAILS_PER_ADDRESS)} in 24 hours, unless configured otherwise`,
  'onboarding emails of a partner': `${byDefault(worker.ONBOARDING_MAILS_PER_PARTNER)} an hour, unless configured otherwise`,
  // at a time
  '`list-events` with `wait`, by key': `${MOST_WAITS}`,
  '`export-lead`, by partner': '1',
  '`resend-webhook`: webhooks that wait, by partner': `${count(MOST_RESENDS)}, sent at most five a second`,
  '`resend-webhook`: attempts of one webhook': count(MOST_ATTEMPTS),
  'certifications and test requests under way, by endpoint': '1 of each',
  // a request
  'the body of a request': kib(BODY_LIMIT),
  'nesting of the body': `${DEEPEST_JSON} levels`,
  'the request line and headers': kib(maxHeaderSize),
  '`Idempotency-Key`': '255 visible ASCII characters, remembered for 24 hours',
  'invalid fields that `error.fields` names': `${MAX_FAULTS}, and ${MOST_NAMED} unknown ones`,
  'names in `ignored_fields`': `${MOST_IGNORED}`,
  'a search in the guides': `${LONGEST_QUERY} characters and ${MOST_WORDS} words`,
  'results of a search': String(MOST_HITS),
  // fields
  '`first_name`, `last_name`': characters(lead('first_name')),
  '`email`': characters(lead('email')),
  '`phone`': characters(lead('phone')),
  '`partner_lead_id`, `partner_lead_id_prefix`, `loan_officer_id`': characters(lead('partner_lead_id')),
  '`fico_range`': `${characters(lead('fico_range'))}, \`300-300\` to \`850-850\``,
  '`notes` of create-lead': characters(lead('notes')),
  'custom fields of a lead, by `update-partner-info`': `${MAX_CUSTOM_FIELDS}`,
  'a custom field, or `loan_product`': characters(most('UpdatePartnerInfoRequest', 'loan_product')),
  'the name of a custom field': characters(most('UpdatePartnerInfoRequest', 'propertyNames')),
  'fields in one `update-partner-info`': `${MOST_FIELDS}`,
  '`url` of set-endpoint': characters(count(MAX_URL_LENGTH)),
  '`overlap_hours` of rotate-endpoint-secret': most('RotateEndpointSecretRequest', 'overlap_hours'),
  // lists
  '`limit` of list-leads, list-events, get-deliveries and list-requests': `${most('ListLeadsRequest', 'limit')}; 50 by default`,
  '`states` of get-deliveries': most('GetDeliveriesRequest', 'states'),
  '`wait` of list-events': `${MOST_SECONDS} s`,
  'attempts of a delivery in get-deliveries': `the latest ${ATTEMPTS}`,
  'requests of a partner in list-requests': `the latest ${count(MOST_KEPT)} of ${KEPT_DAYS} days, ${MOST_A_SECOND} of each second`,
  // webhooks
  'an answer of your endpoint, from the lookup of its name to the last byte': seconds(REQUEST_LIMIT_MS),
  'requests to one endpoint at a time': `${ENDPOINT_CAP}`,
  'scheduled attempts of a webhook': `${RETRY_DELAYS_MS.length} in ${Math.floor(SCHEDULE_DAYS)} days`,
  'an endpoint that accepts nothing': `${PAUSE_AFTER_HOURS} hours`,
  '`Retry-After` of your endpoint': '24 hours',
  'the body of its answer': `${kib(READ_BYTES)} are read, ${kib(KEEP_BYTES)} and ${KEEP_HEADERS} headers of ${KEEP_HEADER_LENGTH} characters, ${kib(KEEP_HEADERS_LENGTH)} in all, kept`,
  'signing secrets that sign at a time': `${MOST_LIVE}`,
  // sandbox
  'events of a lead': count(MOST_EVENTS),
  '`events` in one `simulate-event`': `${MOST_SIMULATED}`,
  'gains of a score update': `-${LARGEST_GAIN} to ${LARGEST_GAIN}`,
  '`run-scenario`, by partner': `${MOST_RUNS.scenario} at a time`,
  '`advance-clock`, by partner': `${MOST_RUNS.advance} leads at a time`,
  'a response of advance-clock, run-scenario and use-sink': seconds(Math.max(CLOCK_MS, SCENARIO_MS, SINK_MS)),
  '`days` of advance-clock': `${MOST_DAYS}`,
  'a clock ahead of today': `${MOST_YEARS} years`,
  '`status`, `times` and `delay_ms` of set-sink': ['status', 'times', 'delay_ms']
    .map((field) => most('SetSinkRequest', field))
    .join(', '),
  '`days_ago` of simulate-event': `${MOST_DAYS_AGO}`,
  '`retry_after` of set-sink': `${most('SetSinkRequest', 'retry_after')} s`,
  '`fault` and `retry_after` of a sink': `${FAULT_ENDS_AFTER_MS / HOUR_MS} hour`,
  'webhooks that a sink keeps': `the last ${KEPT.signed}, and ${KEPT.unsigned} that no secret of yours signed`,
  'what a sink keeps of one that no secret of yours signed': `the first ${characters(count(BEGINNING))}`,
  'a webhook to a sink': kib(MOST_BYTES),
  'requests to a sink': `${count(MOST_A_MINUTE.arrivals)} a minute, ${MOST_A_MINUTE.unsigned} of them not signed by a secret of yours`,
  // connections
  'connections to one process of the API': `${byDefault(api.MAX_CONNECTIONS)}, unless configured otherwise`,
  'a TLS handshake': seconds(connectionLimits.handshakeMs),
  'a request with its body, from its first byte': seconds(connectionLimits.requestMs),
  'a connection without progress': seconds(connectionLimits.silenceMs),
  'an idle connection between two requests': seconds(connectionLimits.keepAliveMs),
  'a connection after an answer to what is no HTTP': seconds(LINGER_MS),
  'a query of the API to its database': seconds(apiPatience.statementMs ?? 0),
  'a page of an export that nobody reads': `${EXPORT_LEASE_SECONDS} s`,
}

/** Bounds of what nobody sends or waits for: figures of our own work, or shapes that limit nothing. */
const internal = [
  'LARGEST_PARTS', // of cursors, which only we make
  'LARGEST_INT4',
  'LARGEST_XID8',
  'LARGEST_BLOCK', // of reserved ids
  'LONGEST_MS', // of a wait for the gate
  'LONGEST_STAND_BACK_MS', // of a webhook from a busy endpoint
  'MOST_AHEAD_MS', // MOST_YEARS
  'MOST_APART_MS', // of two clocks
  'MOST_BRACKETS', // up to which the message says where
  'MOST_CHARACTERS', // of names in messages
  'MOST_DELETED', // in one statement
  'MOST_DIGITS', // of a name in a mail
  'MOST_IN_A_DIGEST', // of leads in one mail: the next one has the others
  'MOST_OF_A_PARTNER', // in one turn
  'MOST_SHARE', // of leads that retention erases
  'MOST_SHOWN', // of names that Temporal shows
  'MAX_KEYS', // that are remembered
]

const page = readFileSync(path.join(root, 'docs/limits.md'), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => /^\| (?!-|What )/.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )

describe('docs/limits.md', () => {
  it('lists every limit with its value, in this order', () => {
    expect(rows.map(([what, limit]) => [what, limit])).toEqual(Object.entries(limits))
  })

  it('says what happens at each, with codes of the API and their status', () => {
    for (const [what, , beyond = '', header] of rows) {
      expect([what, beyond, header]).not.toContain('')
      for (const [, status, code = ''] of beyond.matchAll(/(\d{3}) `([A-Z_]+)`/g))
        expect([what, errorCatalogue[code as keyof typeof errorCatalogue]?.status]).toEqual([
          what,
          Number(status),
        ])
    }
  })

  it('names each limit that headers show', () => {
    const named = rows.flatMap(([, , , header = '']) => [...header.matchAll(/`RateLimit: "([a-z-]+)"`/g)])
    const ofEndpoint = [...Object.keys(endpointLimits), 'changes'].map((name) => `endpoint-${name}`)
    expect(named.map(([, name]) => name)).toEqual([
      'default',
      'address',
      'refusals',
      'erasures',
      'closings',
      ...ofEndpoint,
    ])
  })

  it('has each bound of a request that the reference has', () => {
    const bounds = Object.keys(openApiDocument.components.schemas).flatMap(boundsOf)
    const missing = bounds.filter(
      ({ field, most: largest }) =>
        !Object.entries(limits).some(
          ([what, limit]) =>
            (what.includes(`\`${field}\``) || named[field] === what) && limit.includes(count(largest)),
        ),
    )
    expect(bounds.length).toBeGreaterThan(20)
    expect(missing).toEqual([])
  })

  it('has each call that can get a 429 of its own', () => {
    const own = Object.entries(openApiDocument.paths).filter(([, { post }]) => {
      const response = post?.responses['429']
      return response !== undefined && response.$ref === undefined
    })
    const calls = own.map(([call]) => call.split('/').at(-1))
    expect(calls.length).toBeGreaterThan(10)
    expect(calls.filter((call) => !Object.keys(limits).some((what) => what.includes(`\`${call}\``)))).toEqual(
      [],
    )
  })

  it('has each constant that is a limit, or this test says that it is internal', () => {
    const own = readFileSync(import.meta.filename, 'utf8')
    const constants = ['src/core', 'src/capabilities']
      .flatMap(filesIn)
      .flatMap((file) =>
        Array.from(
          readFileSync(path.join(root, file), 'utf8').matchAll(
            /^(?:export )?const ((?:MOST|MAX|LARGEST|LONGEST|DEEPEST|KEPT|KEEP)\w*|\w+_LIMIT|\w+_CAP)\b/gm,
          ),
          ([, name = '']) => name,
        ),
      )
    expect(constants.length).toBeGreaterThan(40)
    expect([...new Set(constants)].filter((name) => !new RegExp(`\\b${name}\\b`).test(own))).toEqual([])
    expect(internal.filter((name) => !constants.includes(name))).toEqual([])
  })
})

/** Where the field itself is not what the page names. */
const named: Record<string, string> = {
  days: '`days` of advance-clock',
  propertyNames: 'the name of a custom field',
  loan_product: 'a custom field, or `loan_product`',
  maxProperties: 'fields in one `update-partner-info`',
}

interface Bound {
  field: string
  most: number
}

/** The largest values of a request's fields. A cursor's, beyond which no lead is, limits nobody. */
function boundsOf(schema: string): Bound[] {
  if (!schema.endsWith('Request') || schema === 'TestRequest') return []
  const found = (field: string, node: Record<string, unknown>): Bound[] => {
    const own = ['maxLength', 'maximum', 'maxItems'].flatMap((key) =>
      typeof node[key] === 'number' ? [{ field, most: node[key] }] : [],
    )
    return own.concat(
      ((node['anyOf'] ?? []) as Record<string, unknown>[]).flatMap((each) => found(field, each)),
    )
  }
  const { properties = {}, ...whole } = openApiDocument.components.schemas[schema] as Record<string, never>
  const { propertyNames = {}, maxProperties } = whole as Record<string, object>
  return [
    ...Object.entries({ ...properties, propertyNames }).flatMap(([field, node]) =>
      found(field, node as Record<string, unknown>),
    ),
    ...(typeof maxProperties === 'number' ? [{ field: 'maxProperties', most: maxProperties }] : []),
  ].filter(({ most: largest }) => largest !== LARGEST_ID)
}

function filesIn(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?:^http|(?:^|\/)(?:decisions|routes|statements|webhooks))\/.*\.ts$/.test(file))
    .map((file) => `${folder}/${file}`)
}
