import { spawn } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from '@jest/globals'
import { journey, request } from '../../src/clients/typescript/src/fixtures.ts'
import { anyPort } from '../support/any-port.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'

const root = path.join(import.meta.dirname, '../..')
const folder = temporaryFolder()
symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))

/** A program in a file of its own, with what it prints. */
function start(source: string, settings: Record<string, string>) {
  writeFileSync(path.join(folder, 'receiver.mjs'), source)
  const child = spawn(process.execPath, ['receiver.mjs'], {
    cwd: folder,
    env: { ...process.env, ...settings },
  })
  atEnd(async () => void child.kill('SIGKILL'))
  let output = ''
  let errors = ''
  child.stdout.on('data', (part) => (output += String(part)))
  child.stderr.on('data', (part) => (errors += String(part)))
  return {
    until: (pattern: RegExp) =>
      until(async () => {
        if (child.exitCode !== null) throw new Error(`${output}${errors}`)
        return pattern.test(output) && output
      }),
  }
}

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
    const program = start(source, settings)
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
