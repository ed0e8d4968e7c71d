import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { journey, request } from '../../src/clients/typescript/src/fixtures.ts'
import { openApiDocument } from '../api/openapi-document.ts'
import { anyPort } from '../support/any-port.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

const root = path.join(import.meta.dirname, '../..')
const python = process.env.PYTHON ?? 'python3'
const folder = temporaryFolder()
symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
const client = pathToFileURL(path.join(root, 'src/clients/typescript/src/index.ts')).href
const variables = {
  ...process.env,
  NO_COLOR: '1',
  PYTHONUNBUFFERED: '1',
  PYTHONPATH: path.join(root, 'src/clients/python'),
}

/** A program in a file of its own, with what it prints. */
function start(command: string, file: string, source: string, more: Record<string, string>) {
  writeFileSync(path.join(folder, file), source.replaceAll("'partner-referrals'", `'${client}'`))
  const child = spawn(command, [file], { cwd: folder, env: { ...variables, ...more } })
  atEnd(async () => void child.kill('SIGKILL'))
  let output = ''
  let errors = ''
  child.stdout.on('data', (part) => (output += String(part)))
  child.stderr.on('data', (part) => (errors += String(part)))
  const ended = once(child, 'close')
  return {
    until: (pattern: RegExp) =>
      until(async () => {
        if (child.exitCode !== null) throw new Error(`${output}${errors}`)
        return pattern.test(output) && output
      }),
    end: async () => {
      await ended
      if (child.exitCode !== 0) throw new Error(`${output}${errors}`)
      return output
    },
  }
}

describe.each([
  ['curl', 'sh', 'sample.sh'],
  ['TypeScript', process.execPath, 'sample.ts'],
  ['Python', python, 'sample.py'],
])('the samples of the reference in %s', (label, command, file) => {
  const samples = Object.entries(openApiDocument.paths).flatMap(([call, methods]) =>
    Object.values(methods).flatMap((operation) =>
      operation['x-codeSamples']
        .filter((sample) => sample.label === label)
        .map(({ source }) => ({ call, source })),
    ),
  )
  let service: SharedService
  let partner: TestPartner
  beforeAll(async () => {
    service = await sharedService()
    partner = await service.addPartner()
  })

  it('are there for each operation', () => {
    expect(samples.map(({ call }) => call)).toEqual(Object.keys(openApiDocument.paths))
  })

  // one after the other: one that pauses the endpoint comes before the one that resumes it
  it.each(samples)('call $call', async ({ source }) => {
    const leadId = await partnerCalls(service.port, partner.key).createLead()
    const delivery = service.sql.selectFrom('deliveries').select('event_id').where('lead_id', '=', leadId)
    const { event_id: eventId } = await delivery.executeTakeFirstOrThrow()
    const own = source
      .replaceAll('1042', String(leadId))
      .replaceAll(/evt_[\w-]+/g, eventId)
      .replaceAll('https://lender.example.com/webhooks', `${partner.endpoint.url}/new`)
      .replaceAll('curl ', 'curl -sS ')
    const api = { KEY: partner.key, API: `http://127.0.0.1:${service.port}/v1` }
    const program = start(command, file, own, api)
    // one that follows events has no end
    const output = await (own.includes('.follow(') ? program.until(/./) : program.end())
    expect(output).not.toMatch(/undefined|\[object|"success":false/)
  })
})

it.each(['Express in webhooks.md', 'Fastify in receiver.mjs'])(
  'the receiver for %s takes a genuine webhook and answers 4xx to all others',
  async (name) => {
    const file = name.startsWith('Fastify') ? 'docs/receiver.mjs' : 'docs/webhooks.md'
    const page = readFileSync(path.join(root, file), 'utf8')
    const [, section = page] = page.split('\n## Use Express or Flask\n')
    const [source = page] = section.split('```js\n')[1]?.split('```') ?? []
    const port = await anyPort()
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
    const settings = { WEBHOOK_SECRET: secret, PORT: String(port) }
    const program = start(process.execPath, 'receiver.mjs', source, settings)
    await program.until(/^Waiting for webhooks$/m)
    const [event] = journey()
    const genuine = await request(event!, secret)
    const send = async (change: RequestInit) => {
      const init = { method: 'POST', ...genuine, ...change }
      return (await fetch(`http://localhost:${port}/webhooks`, init)).status
    }
    expect(await send({})).toBe(200)
    const signatures = ['v1', ',', 'v1,a,b', 'v1,\u00e9'].map((signature) => ({
      headers: { ...genuine.headers, 'webhook-signature': signature },
    }))
    const bodies = [`${genuine.body} `, Buffer.from([0xff])].map((body) => ({ body }))
    for (const each of [...signatures, ...bodies, { headers: {} }, { headers: {}, body: '' }])
      expect(Math.floor((await send(each)) / 100)).toBe(4)
    await program.until(/^lead_received /m)
  },
)
