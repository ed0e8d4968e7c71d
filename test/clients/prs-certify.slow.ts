import { beforeAll, describe, expect, it } from '@jest/globals'
import { readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { Webhook } from 'standardwebhooks'
import { certificationChecks } from '../../src/capabilities/self-service/decisions/certification.ts'
import { junit } from '../../src/clients/typescript/prs/self-service/junit.ts'
import { Webhooks } from '../../src/clients/typescript/src/index.ts'
import { generateSecret } from '../../src/core/deliveries/webhooks/secrets.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { type Element, parseXml } from './junit-xml.ts'
import { bundlePrs, type Prs } from './prs.ts'

const secret = generateSecret()
interface Received {
  id: string
  type: string
}

/** A lender's receiver, with what it has handled, and what it does wrong. */
interface Behaviour {
  /** Answers another status than 200 for what is genuine. */
  status?: (received: Received, handled: readonly Received[]) => number | undefined
  verify?: (body: string, headers: Record<string, string>) => void
}

async function receiver({ status, verify }: Behaviour = {}) {
  const handled: Received[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const headers = request.headers as Record<string, string>
    try {
      if (verify === undefined) new Webhook(secret).verify(body, headers)
      else verify(body, headers)
    } catch {
      return response.writeHead(400).end()
    }
    const { type } = JSON.parse(body) as { type: string }
    const received = { id: headers['webhook-id'] ?? '', type }
    const other = status?.(received, handled)
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
    const webhooks = new Webhooks({ secrets: secret })
    const url = await listening(createServer(webhooks.node({ on: {}, onOther: () => {} }) as never))
    const file = path.join(temporaryFolder(), 'report.xml')
    const { code, stderr, reports } = await certify(url, '--junit', file)
    expect(reports.map(({ check, result }) => [check, result])).toEqual(
      certificationChecks.map((check) => [check, 'passed']),
    )
    expect([code, stderr]).toEqual([0, ''])
    const report = parseXml(readFileSync(file, 'utf8'))
    expect(report.attributes).toMatchObject({
      tests: String(certificationChecks.length),
      failures: '0',
      skipped: '0',
    })
    expect(namesIn(report)).toEqual(certificationChecks)
  })

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
      'refuses repeats',
      ['repeated'],
      { status: ({ id }, handled) => (handled.some((each) => each.id === id) ? 409 : undefined) },
    ],
    [
      'refuses what it does not know',
      ['unknown_type'],
      { status: ({ type }) => (type === 'endpoint.certification' ? undefined : 400) },
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
    const { url } = await receiver({
      status: ({ type }) => (type === 'endpoint.certification' ? undefined : 500),
    })
    const file = path.join(temporaryFolder(), 'report.xml')
    const { code, stdout } = await prs.run(['certify', url, '--secret', secret, '--junit', file])
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /\n✗ unknown_type: a webhook of an unknown type: status 500 \(\d+ ms\)\n {4}Your endpoint had an error of its own: see its log\./,
    )
    expect(stdout).toMatch(/\n5 of 6 checks passed\n$/)
    const [suite] = parseXml(readFileSync(file, 'utf8')).children
    const failed = suite?.children.find(({ children }) => children.length > 0)
    expect(failed?.attributes).toMatchObject({ classname: 'prs.certification' })
    expect(failed?.children[0]?.attributes.message).toBe('expected a 2xx status, received status 500')
  })

  it('sends nothing more to a receiver that is not there', async () => {
    const file = path.join(temporaryFolder(), 'report.xml')
    const { code, reports } = await certify('http://127.0.0.1:9/', '--junit', file)
    expect(code).toBe(1)
    expect(reports[0]).toMatchObject({ check: 'valid', result: 'failed' })
    expect(reports[0]?.received).toContain('check that your server listens on that port')
    expect(reports.slice(1).every(({ duration_ms: ms }) => ms === null)).toBe(true)
    const report = parseXml(readFileSync(file, 'utf8'))
    expect(report.attributes).toMatchObject({
      failures: '1',
      skipped: String(certificationChecks.length - 1),
    })
  })

  it('makes a secret for this machine, and keeps it for its owner', async () => {
    const { url } = await receiver()
    const first = await prs.run(['certify', url])
    const [, made = ''] = /^Signing secret: (whsec_\S+)\. /.exec(first.stdout) ?? []
    expect(first.code).toBe(1)
    expect((await prs.run(['certify', url])).stdout).toContain(made)
    expect(statSync(path.join(prs.state, 'certify.json')).mode & 0o777).toBe(0o600)
    // beside what programs read
    const { stdout, stderr } = await prs.run(['certify', url, '--json'])
    expect(stderr).toContain(`Signing secret: ${made}.`)
    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({ check: 'valid' })
    const good = await receiver({ verify: (body, headers) => void new Webhook(made).verify(body, headers) })
    expect((await prs.run(['certify', good.url])).code).toBe(0)
  })

  it.each([
    ['no URL', [], 'Say where your receiver is'],
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

describe('a JUnit report', () => {
  it('is well-formed whatever its texts are', () => {
    const text = '<&"\'>\n\t]]> \u0000\u001b\uffff\ud800 é 漢 🙂'
    const kept = '<&"\'>\n\t]]> \ufffd\ufffd\ufffd\ufffd é 漢 🙂'
    const failed = { name: text, seconds: 0.0014, failure: { message: text, text } }
    const report = parseXml(junit([failed, { name: 'b', seconds: 1, skipped: text }]))
    expect(report.attributes).toMatchObject({ tests: '2', failures: '1', skipped: '1', time: '1.001' })
    const [suite] = report.children
    const [first, second] = suite?.children ?? []
    expect(first?.attributes).toEqual({ classname: 'prs.certification', name: kept, time: '0.001' })
    expect(first?.children[0]).toMatchObject({ name: 'failure', attributes: { message: kept }, text: kept })
    expect(second?.children[0]).toMatchObject({ name: 'skipped', attributes: { message: kept } })
  })
})
