import { beforeAll, describe, expect, it } from '@jest/globals'
import { readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { Webhook } from 'standardwebhooks'
import { certificationChecks } from '../../src/capabilities/self-service/decisions/certification.ts'
import {
  describeRehearsal,
  rehearsalChecks,
} from '../../src/capabilities/self-service/decisions/rehearsal.ts'
import { junit } from '../../src/clients/typescript/prs/self-service/junit.ts'
import { Webhooks } from '../../src/clients/typescript/src/index.ts'
import { generateSecret } from '../../src/core/deliveries/webhooks/secrets.ts'
import { atEnd } from '../support/at-end.ts'
import { closed } from '../support/closed.ts'
import { temporaryFolder } from '../support/folder.ts'
import { type Element, parseXml } from './junit-xml.ts'
import { bundlePrs, type Prs } from './prs.ts'

const secret = generateSecret()
const all = [...certificationChecks, ...rehearsalChecks]
/** The one whose second webhook is sent once without waiting for the answer. */
const CHECK_WITHOUT_ANSWER = rehearsalChecks.indexOf('timeout') + 1

interface Received {
  id: string
  type: string
  /** Of its lead; 0 for a request about none. */
  sequence: number
  lead: number
  data: Record<string, unknown>
}

/** A lender's receiver, with what it has handled, and what it does wrong. */
interface Behaviour {
  /** Answers another status than 200 for what is genuine. */
  status?: (received: Received, handled: readonly Received[]) => number | undefined
  /** Answers before the body has arrived. */
  early?: (request: IncomingMessage) => number | undefined
  verify?: (body: string, headers: Record<string, string>) => void
  /** Locks a webhook-id while it handles it, and leaves it locked if the connection is closed meanwhile. */
  locks?: true
}

async function receiver({ status, early, verify, locks }: Behaviour = {}) {
  const locked = new Set<string>()
  const handled: Received[] = []
  const leads = new Set<number>()
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const refusal = early?.(request)
    if (refusal !== undefined) return response.writeHead(refusal, { connection: 'close' }).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (response.headersSent) return undefined
    const body = Buffer.concat(chunks).toString()
    const headers = request.headers as Record<string, string>
    try {
      if (verify === undefined) new Webhook(secret).verify(body, headers)
      else verify(body, headers)
    } catch {
      return response.writeHead(400).end()
    }
    const { type, data } = JSON.parse(body) as { type: string; data: Record<string, unknown> }
    const { sequence = 0, lead_id: lead = 0 } = data as { sequence?: number; lead_id?: number }
    const received = { id: headers['webhook-id'] ?? '', type, sequence, lead, data }
    const other = status?.(received, handled)
    if (lead !== 0) leads.add(lead)
    if (other === undefined && locks) {
      if (locked.has(received.id)) return response.writeHead(409).end()
      locked.add(received.id)
      // each check has a lead of its own
      if (leads.size === CHECK_WITHOUT_ANSWER && sequence === 2) await closed(response)
      if (response.destroyed) return undefined
      locked.delete(received.id)
    }
    if (other === undefined) handled.push(received)
    return response.writeHead(other ?? 200).end()
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => {}))
  return { handled, url: await listening(server) }
}

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
}

describe('prs certify', () => {
  let prs: Prs

  beforeAll(() => {
    prs = bundlePrs()
  })

  const certify = async (url: string, ...args: string[]) => {
    const { code, stdout, stderr } = await prs.run(['certify', url, '--json', ...args], {
      WEBHOOK_SECRET: secret,
      // it needs none, and sends none
      REFERRALS_KEY: 'prs_live_1',
    })
    const reports = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, string | null>)
    return { code, stderr, reports }
  }

  it('passes a receiver that is made with this package', async () => {
    const handled: string[] = []
    const webhooks = new Webhooks({ secrets: secret })
    const url = await listening(
      createServer(
        webhooks.node({
          on: {},
          onOther: ({ type, data }) =>
            void handled.push(`${type} ${'leadId' in data ? String(data.leadId) : ''}`),
        }) as never,
      ),
    )
    const file = path.join(temporaryFolder(), 'report.xml')
    const { code, stderr, reports } = await certify(url, '--junit', file)
    expect(reports.map(({ check, result }) => [check, result])).toEqual(all.map((check) => [check, 'passed']))
    expect([code, stderr]).toEqual([0, ''])
    // a repeat is handled once
    expect(handled.filter((each) => each.startsWith('lead.closed'))).toHaveLength(1)
    expect(handled.filter((each) => each.startsWith('lead_received'))).toHaveLength(rehearsalChecks.length)
    const report = parseXml(readFileSync(file, 'utf8'))
    expect(report.attributes).toMatchObject({ tests: String(all.length), failures: '0', skipped: '0' })
    expect(namesIn(report)).toEqual(all)
  })

  const known =
    /^(?:lead_received|client_account_created|credit_scan_completed|contract_signed|escrow_funded|score_update|mortgage_ready|lead\.closed|endpoint\.certification)$/
  const begun = new Set<string>()
  const bad: [string, string[], Behaviour][] = [
    ['verifies nothing', ['forged_signature', 'old_timestamp', 'changed_body'], { verify: () => {} }],
    [
      'verifies what it has written again',
      ['valid', 'repeated', 'unknown_type', 'forged_signature', 'old_timestamp', 'changed_body'],
      {
        verify: (body, headers) => void new Webhook(secret).verify(JSON.stringify(JSON.parse(body)), headers),
      },
    ],
    [
      'cannot handle a score',
      ['journey'],
      { status: ({ type }) => (type === 'score_update' ? 500 : undefined) },
    ],
    [
      'refuses repeats',
      ['repeated', 'repeats', 'repeats_later', 'timeout'],
      { status: ({ id }, handled) => (handled.some((each) => each.id === id) ? 409 : undefined) },
    ],
    [
      'refuses what comes late',
      ['late', 'early'],
      {
        status: ({ id, lead, sequence }, handled) =>
          !handled.some((each) => each.id === id) &&
          handled.some((each) => each.lead === lead && each.sequence > sequence && lead !== 0)
            ? 409
            : undefined,
      },
    ],
    [
      'wants no gaps',
      ['late', 'early'],
      {
        status: ({ lead, sequence }, handled) =>
          lead !== 0 && sequence > handled.filter((each) => each.lead === lead).length + 1 ? 422 : undefined,
      },
    ],
    [
      'refuses what it does not know',
      ['unknown_type', 'unknown'],
      { status: ({ type }) => (known.test(type) ? undefined : 400) },
    ],
    [
      'refuses fields that it does not know',
      ['unknown'],
      { status: ({ data }) => ('added_later' in data ? 422 : undefined) },
    ],
    [
      'takes one signature alone',
      ['rotation'],
      {
        verify: (body, headers) => {
          const [signature = ''] = (headers['webhook-signature'] ?? '').split(' ')
          new Webhook(secret).verify(body, { ...headers, 'webhook-signature': signature })
        },
      },
    ],
    [
      'gives a body no time',
      ['slow'],
      {
        early: (request) => {
          setTimeout(() => request.complete || request.destroy(), 1000)
          return undefined
        },
      },
    ],
    ['leaves locked what it could not answer', ['timeout'], { locks: true }],
    [
      'remembers what it has not read',
      ['interrupted'],
      {
        early: (request) => {
          const id = String(request.headers['webhook-id'])
          const isCut = begun.has(id)
          begun.add(id)
          request.on('end', () => begun.delete(id))
          return isCut ? 409 : undefined
        },
      },
    ],
  ]

  describe('of receivers that do something wrong', () => {
    const made = new Map<string, Awaited<ReturnType<typeof certify>> & { report: Element }>()

    // they take a few seconds each, mostly waiting
    beforeAll(async () => {
      const one = async ([name, , behaviour]: (typeof bad)[number]) => {
        const file = path.join(temporaryFolder(), 'report.xml')
        const result = await certify((await receiver(behaviour)).url, '--junit', file)
        made.set(name, { ...result, report: parseXml(readFileSync(file, 'utf8')) })
      }
      await Promise.all(bad.map(one))
    })

    it.each(bad)('fails one that %s, by the check for that', (name, checks) => {
      const { code, reports, report } = made.get(name)!
      const failed = reports.filter(({ result }) => result !== 'passed')
      expect(failed.map(({ check }) => check)).toEqual(checks)
      expect(failed.every(({ hint }) => hint !== null)).toBe(true)
      expect(code).toBe(1)
      expect(report.attributes.failures).toBe(String(checks.length))
      expect(namesIn(report, 'failure')).toEqual(checks)
    })
  })

  it('says what came, and what to change', async () => {
    const { url } = await receiver({ status: ({ type }) => (type === 'escrow_funded' ? 500 : undefined) })
    const file = path.join(temporaryFolder(), 'report.xml')
    const { code, stdout } = await prs.run(['certify', url, '--secret', secret, '--junit', file])
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /\n✗ journey: the whole journey of a lead, in order: status 500 \(escrow_funded, request 5 of 9\) \(\d+ ms\)\n {4}Your endpoint had an error of its own: see its log\. Respond with 200 to each type/,
    )
    expect(stdout).toMatch(/\n12 of 16 checks passed\n$/)
    const [, rehearsal] = parseXml(readFileSync(file, 'utf8')).children
    const [journey] = rehearsal?.children ?? []
    expect(journey?.attributes).toMatchObject({ classname: 'prs.rehearsal' })
    expect(journey?.children[0]?.attributes.message).toBe(
      'expected a 2xx status for each, received status 500 (escrow_funded, request 5 of 9)',
    )
  })

  it('makes the checks that are named, and no others', async () => {
    const { url, handled } = await receiver()
    const { code, reports } = await certify(url, '--check', 'rotation', '--check', 'late')
    expect([code, reports.map(({ suite, check, result }) => [suite, check, result])]).toEqual([
      0,
      [
        ['rehearsal', 'rotation', 'passed'],
        ['rehearsal', 'late', 'passed'],
      ],
    ])
    expect(handled).toHaveLength(9)
  })

  it('sends nothing more to a receiver that is not there', async () => {
    const file = path.join(temporaryFolder(), 'report.xml')
    const { code, reports } = await certify('http://127.0.0.1:9/', '--junit', file)
    expect(code).toBe(1)
    expect(reports[0]).toMatchObject({ check: 'valid', result: 'failed' })
    expect(reports[0]?.received).toContain('check that your server listens on that port')
    expect(reports.slice(1).every(({ duration_ms: ms }) => ms === null)).toBe(true)
    const report = parseXml(readFileSync(file, 'utf8'))
    expect(report.attributes).toMatchObject({ failures: '1', skipped: String(all.length - 1) })
  })

  it('makes a secret for this machine, and keeps it for its owner', async () => {
    const { url } = await receiver()
    const first = await prs.run(['certify', url])
    const [, made = ''] = /^Signing secret: (whsec_\S+)\. /.exec(first.stdout) ?? []
    expect(first.code).toBe(1)
    expect((await prs.run(['certify', url])).stdout).toContain(made)
    expect(statSync(path.join(prs.state, 'certify.json')).mode & 0o777).toBe(0o600)
    // beside what programs read
    const { stdout, stderr } = await prs.run(['certify', url, '--json', '--check', 'rotation'])
    expect(stderr).toContain(`Signing secret: ${made}.`)
    expect(JSON.parse(stdout)).toMatchObject({ suite: 'rehearsal', check: 'rotation' })
    const good = await receiver({ verify: (body, headers) => void new Webhook(made).verify(body, headers) })
    expect((await prs.run(['certify', good.url])).code).toBe(0)
  })

  it.each([
    ['no URL', [], 'Say where your receiver is'],
    [
      'an unknown check',
      ['http://127.0.0.1:9', '--check', 'later'],
      '--check later is no check of the rehearsal: journey, repeats',
    ],
    ['two', ['http://a', 'http://b'], 'certify takes one URL'],
    ['what is no secret', ['http://127.0.0.1:9', '--secret', 'prs_live_1'], '--secret is no signing secret'],
    [
      'a secret that lost a character',
      ['http://127.0.0.1:9', '--secret', `whsec_${'A'.repeat(42)}=`],
      '--secret is no signing secret',
    ],
    [
      'a report that cannot be written',
      ['http://127.0.0.1:9', '--junit', '/dev/null/report.xml'],
      'give another --junit',
    ],
  ])('says what to do about %s', async (_, args, message) => {
    const { code, stdout, stderr } = await prs.run(['certify', ...args])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^prs: [^\n]+\n$/)
    expect(stderr).toContain(message)
  })
})

/** The checks of a report, in their order: all, or those with such an element. */
function namesIn({ children }: Element, kind?: string) {
  return children
    .flatMap((suite) => suite.children)
    .filter((each) => kind === undefined || each.children[0]?.name === kind)
    .map(({ attributes }) => attributes.name?.split(':')[0])
}

it('the README lists the checks of a rehearsal', () => {
  const text = readFileSync('src/clients/typescript/README.md', 'utf8')
  for (const check of rehearsalChecks)
    expect(text.replaceAll(/ +\|/g, ' |')).toContain(`| \`${check}\` | ${describeRehearsal(check)} |`)
})

describe('a JUnit report', () => {
  it('is well-formed whatever its texts are', () => {
    const text = '<&"\'>\n\t]]> \u0000\u001b\uffff\ud800 é 漢 🙂'
    const kept = '<&"\'>\n\t]]> \ufffd\ufffd\ufffd\ufffd é 漢 🙂'
    const failed = { suite: text, name: text, seconds: 0.0014, failure: { message: text, text } }
    const report = parseXml(junit([failed, { suite: text, name: 'b', seconds: 1, skipped: text }]))
    expect(report.attributes).toMatchObject({ tests: '2', failures: '1', skipped: '1', time: '1.001' })
    const [suite] = report.children
    expect(suite?.attributes.name).toBe(kept)
    const [first, second] = suite?.children ?? []
    expect(first?.attributes).toEqual({ classname: `prs.${kept}`, name: kept, time: '0.001' })
    expect(first?.children[0]).toMatchObject({ name: 'failure', attributes: { message: kept }, text: kept })
    expect(second?.children[0]).toMatchObject({ name: 'skipped', attributes: { message: kept } })
  })
})
