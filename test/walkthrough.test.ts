import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { anyPort } from './support/any-port.ts'
import { atEnd } from './support/at-end.ts'
import { temporaryFolder } from './support/folder.ts'
import { prepareService, type Service, type TestPartner } from './support/service.ts'
import { until } from './support/until.ts'

const root = path.join(import.meta.dirname, '..')
const readme = readFileSync(path.join(root, 'README.md'), 'utf8')
const webhooks = readFileSync(path.join(root, 'docs/webhooks.md'), 'utf8')

/** The code blocks of a document's section, as printed. */
function blocksOf(document: string, heading: string, language = 'sh'): string[] {
  const [, section = ''] = document.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return Array.from(
    own.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms')),
    ([, code = '']) => code,
  )
}

describe('the commands and the code of README.md and docs/webhooks.md', () => {
  let service: Service
  let partner: TestPartner
  let api: string
  let receiver: Awaited<ReturnType<typeof startReceiver>>

  beforeAll(async () => {
    service = await prepareService()
    const [{ port }] = await Promise.all([service.startApi(), service.startWorker()])
    api = `http://127.0.0.1:${port}/v1`
    partner = await service.addPartner()
  })

  /** Runs commands as a newcomer's shell does, with the address and the key that `npm start` would have printed. */
  async function run(commands: string): Promise<string> {
    const variables = `API=${api}\nKEY=${partner.key}\n`
    const printed = commands.replace(/^API=.*\nKEY=.*\n/, '')
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...service.environment }
    const shell = spawn('sh', ['-euc', variables + printed], { cwd: root, env })
    const ended = once(shell, 'close')
    const [output, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)])
    await ended
    if (shell.exitCode !== 0) throw new Error(`${commands}\n${output}${errors}`)
    return output
  }

  it('set an endpoint and certify its receiver', async () => {
    const [set = '', , certify = '', read = ''] = blocksOf(webhooks, 'Set up your endpoint')
    const port = await anyPort()
    const { data } = JSON.parse(await run(set.replace(':4000/', `:${port}/`))) as { data: { secret: string } }
    receiver = await startReceiver(data.secret, port)
    expect(await run(certify)).toContain('"state":"running"')
    const report = await until(async () => {
      const answer = await run(read)
      return !answer.includes('"state":"running"') && answer
    })
    expect(report).toContain(`"url":"${receiver.url}"`)
    expect(report).toContain('"state":"passed"')
    expect(report.match(/"passed":true/g)).toHaveLength(6)
    expect(receiver.lines).toEqual([
      'Waiting for webhooks',
      expect.stringMatching(/^endpoint\.certification \{"partner_id":\d+,/),
      expect.stringMatching(/^endpoint\.certification\.unknown_type /),
    ])
    receiver.lines.length = 0
  })

  it('look after the endpoint', async () => {
    const [commands = ''] = blocksOf(webhooks, 'Look after your endpoint')
    const answers = await run(commands)
    expect(answers.match(/"success":true/g)).toHaveLength(4)
    expect(answers).toContain('"health":"paused"')
    await receiver.until(/^endpoint\.ping /)
    receiver.lines.length = 0
  })

  it('refer a borrower, record milestones and read the lead', async () => {
    const [create = ''] = blocksOf(readme, 'Refer a borrower')
    expect(await run(create)).toMatch(/"success":true,.*"lead_id":1\b/)
    const [record = '', advance = ''] = blocksOf(readme, 'Record a milestone')
    await run(record)
    await receiver.until(/^escrow_funded /)
    expect(receiver.lines).toEqual([
      expect.stringMatching(/^lead_received .*"lead_id":1,/),
      expect.stringMatching(/^client_account_created .*"lead_id":1,/),
      expect.stringMatching(/^contract_signed .*"lead_id":1,/),
      expect.stringMatching(/^escrow_funded .*"lead_id":1,/),
    ])
    expect(await run(advance)).toContain('"status":"score_update"')
    await receiver.until(/^score_update .*"lead_id":1,/)
    const [rest = ''] = blocksOf(readme, 'Call the rest of the API')
    const answers = await run(rest)
    expect(answers.match(/"success":true/g)).toHaveLength(5)
    expect(answers).toContain('"status":"score_update"')
  })

  it('look at webhooks, at the endpoint and at the feed, and have a webhook sent again', async () => {
    const headings = [
      'Know when a webhook counts as delivered',
      'Check your endpoint',
      'Poll for events instead',
    ]
    const commands = headings.flatMap((heading) => blocksOf(webhooks, heading))
    expect(commands).toHaveLength(4)
    for (const command of commands) expect(await run(command)).toContain('"success":true')

    const { event_id: id } = await service.sql
      .selectFrom('deliveries')
      .select('event_id')
      .where('sequence', '=', 1)
      .executeTakeFirstOrThrow()
    const [resend = ''] = blocksOf(webhooks, 'Send a webhook again')
    expect(await run(resend.replace(/evt_[^"]+/, id))).toContain('"success":true')
    const attempts = () =>
      service.sql
        .selectFrom('attempts')
        .select('status')
        .where('event_id', '=', id)
        .where('trigger', '=', 'resend')
        .execute()
    await until(async () => (await attempts()).some(({ status }) => status === 200))
    // the receiver knows its id
    expect(receiver.lines).toHaveLength(5)
  })

  it('refuse a webhook that is forged', async () => {
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': 'v1,bm90IG91cnM=',
    }
    const { status } = await fetch(receiver.url, { method: 'POST', headers, body: '{"type":"forged"}' })
    expect(status).toBe(400)
  })
})

/** The Fastify server of docs/webhooks.md, as it is printed there. */
async function startReceiver(secret: string, port: number) {
  const [code = ''] = blocksOf(webhooks, 'Set up your endpoint', 'js')
  const folder = temporaryFolder()
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  writeFileSync(path.join(folder, 'receiver.mjs'), code)
  const env = { WEBHOOK_SECRET: secret, PORT: String(port) }
  const child = spawn(process.execPath, ['receiver.mjs'], { cwd: folder, env })
  atEnd(async () => void child.kill())
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const seen = (line: RegExp) => until(async () => lines.some((printed) => line.test(printed)))
  await seen(/^Waiting for webhooks$/)
  return { url: `http://127.0.0.1:${port}/webhooks`, lines, until: seen }
}
