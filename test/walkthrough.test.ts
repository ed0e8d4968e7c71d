import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { anyPort } from './support/any-port.ts'
import { atEnd } from './support/at-end.ts'
import type { TestPartner } from './support/service.ts'
import { type SharedService, sharedService } from './support/shared-service.ts'
import { until } from './support/until.ts'

const root = path.join(import.meta.dirname, '..')
const readme = readFileSync(path.join(root, 'README.md'), 'utf8')

/** The commands of a section, one text for each code block. */
function blocksOf(heading: string): string[] {
  const [, section = ''] = readme.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return Array.from(own.matchAll(/^```sh\n(.*?)^```/gms), ([, code = '']) => code)
}

describe('the commands of README.md', () => {
  let service: SharedService
  let partner: TestPartner
  /** The page's is the first of its sandbox. */
  let leadId = 1

  beforeAll(async () => {
    service = await sharedService()
    partner = await service.addPartner()
  })

  /** Runs commands as a newcomer's shell does, with the address and the key that `npm start` would have printed. */
  async function run(commands: string): Promise<string> {
    const variables = `API=http://127.0.0.1:${service.port}/v1\nKEY=${partner.key}\n`
    const own = commands.replaceAll('"lead_id":1', `"lead_id":${leadId}`)
    const shell = spawn('sh', ['-euc', variables + own], { cwd: root })
    const ended = once(shell, 'close')
    const [output, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)])
    await ended
    if (shell.exitCode !== 0) throw new Error(`${commands}\n${output}${errors}`)
    return output
  }

  const successes = (answers: string) => answers.match(/"success":true/g)?.length

  it('refer a borrower once, read the lead, and play a year', async () => {
    const [create = '', follow = '', year = ''] = blocksOf('Your first five minutes')
    const created = await run(create)
    leadId = (JSON.parse(created) as { lead_id: number }).lead_id
    expect(await run(create)).toBe(created)
    const answers = await run(follow)
    expect(successes(answers)).toBe(3)
    expect(answers).toMatch(/"event_name":"lead_received".*"event_name":"contract_signed"/)
    expect(successes(await run(year))).toBe(1)
    await partner.endpoint.until((arrivals) => arrivals.length === 16)
    expect(partner.endpoint.arrivals.at(-1)?.event.type).toBe('mortgage_ready')
  })

  it('set up an endpoint, break it and see it recover', async () => {
    const [set = '', start, certify = '', breakIt = '', recover = ''] = blocksOf('Your own endpoint')
    expect(start).toBe('WEBHOOK_SECRET=whsec_… node docs/receiver.mjs\n')
    const port = await anyPort()
    const { data } = JSON.parse(await run(set.replace(':4000/', `:${port}/`))) as {
      data: { secret: string }
    }
    const receiver = await startReceiver(data.secret, port)
    await run(certify)
    const [, report = ''] = certify.split(/^(?=curl)/m)
    await until(async () => (await run(report)).includes('"state":"passed"'))
    await receiver.stop()
    await run(breakIt)
    const [, look = '', list = ''] = breakIt.split(/^(?=curl)/m)
    await until(async () => (await run(look)).includes('"health":"failing"'))
    expect(await run(look)).toMatch(/"last_error":\{.*"hint":"[^"]*refused/)
    expect(await run(list)).toMatch(/"event_name":"escrow_funded".*"state":"pending"/)
    const again = await startReceiver(data.secret, port)
    expect(await run(recover)).toMatch(/"what":"webhook".*"status":200/)
    const line = new RegExp(`^escrow_funded .*"lead_id":${leadId},`)
    expect(again.lines).toContainEqual(expect.stringMatching(line))
  })
})

/** The receiver that the page starts, with what it prints. */
async function startReceiver(secret: string, port: number) {
  const env = { PATH: process.env.PATH, WEBHOOK_SECRET: secret, PORT: String(port) }
  const child = spawn('node', ['docs/receiver.mjs'], { cwd: root, env })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const stop = async () => void (child.kill() && (await once(child, 'close')))
  atEnd(stop)
  await until(async () => lines.includes('Waiting for webhooks'))
  return { lines, stop }
}
