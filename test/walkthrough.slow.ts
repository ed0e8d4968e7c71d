import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { anyPort } from './support/any-port.ts'
import { atEnd } from './support/at-end.ts'
import { prepareService, type Service, type TestPartner } from './support/service.ts'
import { until } from './support/until.ts'

const root = path.join(import.meta.dirname, '..')
const page = (file: string) => readFileSync(path.join(root, file), 'utf8')
const readme = page('README.md')
const integrate = page('docs/integrate.md')
const webhooks = page('docs/webhooks.md')
const operation = page('docs/run.md')

/** The commands of a document's section, one text for each code block. */
function blocksOf(document: string, heading: string): string[] {
  const [, section = ''] = document.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return Array.from(own.matchAll(/^```sh\n(.*?)^```/gms), ([, code = '']) => code)
}

describe('the commands and the code of README.md, integrate.md, webhooks.md and run.md', () => {
  let service: Service
  let partner: TestPartner
  let api: string
  let receiver: Receiver

  beforeAll(async () => {
    service = await prepareService()
    const [{ port }] = await Promise.all([service.startApi(), service.startWorker()])
    api = `http://127.0.0.1:${port}/v1`
    partner = await service.addPartner()
  })

  const environment = () => ({ PATH: process.env.PATH, HOME: process.env.HOME, ...service.environment })

  /** Runs commands as a newcomer's shell does, with the address and the key that `npm start` would have printed. */
  async function run(commands: string, more: Record<string, string> = {}): Promise<string> {
    const variables = `API=${api}\nKEY=${partner.key}\n`
    const env = { ...environment(), ...more }
    const shell = spawn('sh', ['-euc', variables + commands], { cwd: root, env })
    const ended = once(shell, 'close')
    const [output, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)])
    await ended
    if (shell.exitCode !== 0) throw new Error(`${commands}\n${output}${errors}`)
    return output
  }

  const successes = (answers: string) => answers.match(/"success":true/g)?.length

  /** Sets the endpoint of a page at a free port, and starts the receiver there. */
  async function setEndpoint(command: string): Promise<Receiver> {
    const port = await anyPort()
    const { data } = JSON.parse(await run(command.replace(':4000/', `:${port}/`))) as {
      data: { secret: string }
    }
    return startReceiver(data.secret, port)
  }

  /** What get-endpoint shows once the certification has ended. */
  const certified = (commands: string) =>
    until(async () => {
      const answer = await run(commands)
      return !answer.includes('"state":"running"') && answer
    })

  it('refer a borrower, read the lead, and play a year', async () => {
    const [create = '', follow = '', year = ''] = blocksOf(readme, 'Your first five minutes')
    expect(await run(create)).toMatch(/"success":true,.*"lead_id":1\b/)
    expect(await run(create)).toMatch(/"lead_id":1\b/)
    const answers = await run(follow)
    expect(successes(answers)).toBe(3)
    expect(answers).toMatch(/"event_name":"lead_received".*"event_name":"contract_signed"/)
    expect(successes(await run(year))).toBe(1)
    await partner.endpoint.until((arrivals) => arrivals.length === 16)
    expect(partner.endpoint.arrivals.at(-1)?.event.type).toBe('mortgage_ready')
  })

  it('set up an endpoint, break it and see it recover', async () => {
    const [set = '', start, certify = '', breakIt = '', recover = ''] = blocksOf(readme, 'Your own endpoint')
    expect(start).toBe('WEBHOOK_SECRET=whsec_… node docs/receiver.mjs\n')
    const first = await setEndpoint(set)
    await run(certify)
    expect(await certified(certify.split('\n').at(-2) ?? '')).toContain('"state":"passed"')
    await first.stop()
    await run(breakIt)
    const [, look = '', list = ''] = breakIt.split(/^(?=curl)/m)
    await until(async () => (await run(look)).includes('"health":"failing"'))
    expect(await run(look)).toMatch(/"last_error":\{.*"hint":"[^"]*refused/)
    expect(await run(list)).toMatch(/"event_name":"escrow_funded".*"state":"pending"/)
    receiver = await startReceiver(first.secret, first.port)
    expect(await run(recover)).toMatch(/"what":"webhook".*"status":200/)
    expect(receiver.lines).toContainEqual(expect.stringMatching(/^escrow_funded .*"lead_id":1,/))
  })

  it('are those of integrate.md', async () => {
    const headings = ['Make a request', 'Refer a borrower', 'Follow a lead', 'Change a lead']
    const answers = await Promise.all(headings.map((heading) => run(blocksOf(integrate, heading).join(''))))
    expect(answers.map(successes)).toEqual([1, 1, 3, 1])
  })

  it('set an endpoint and certify its receiver', async () => {
    const [set = '', , certify = '', read = ''] = blocksOf(webhooks, 'Set up your endpoint')
    receiver = await setEndpoint(set)
    expect(await run(certify)).toContain('"state":"running"')
    const report = await certified(read)
    expect(report).toContain(`"url":"${receiver.url}"`)
    expect(report).toContain('"state":"passed"')
    expect(report.match(/"result":"passed"/g)).toHaveLength(6)
    expect(receiver.lines).toEqual([
      'Waiting for webhooks',
      expect.stringMatching(/^endpoint\.certification \{"partner_id":\d+,/),
      expect.stringMatching(/^endpoint\.certification\.unknown_type /),
    ])
  })

  it('look after the endpoint', async () => {
    const [commands = ''] = blocksOf(webhooks, 'Look after your endpoint')
    const answers = await run(commands)
    expect(successes(answers)).toBe(4)
    expect(answers).toContain('"health":"paused"')
    await receiver.until(/^endpoint\.ping /)
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
      .where('lead_id', '=', 1)
      .executeTakeFirstOrThrow()
    const [resend = ''] = blocksOf(webhooks, 'Send a webhook again')
    expect(await run(resend.replace(/evt_[^"]+/, id))).toContain('"success":true')
    await receiver.until(/^lead_received .*"lead_id":1,/)
  })

  it('show what an endpoint answered, and compute the signature of the reference’s example', async () => {
    const [ask = '', compute = ''] = blocksOf(webhooks, 'See what your endpoint answered')
    const id = partner.endpoint.arrivals[0]?.id
    expect(await run(ask.replace('evt_019aa2…', String(id)))).toMatch(
      /"request_headers":\{"webhook-id".*"response_body"/,
    )
    const { paths } = JSON.parse(page('docs/openapi.json')) as { paths: object }
    const signature = (await run(compute)).trim()
    expect(signature).toMatch(/^v1,/)
    expect(JSON.stringify(paths)).toContain(`"webhook-signature":"${signature}"`)
    expect(webhooks).toContain(`\n${signature}\n`)
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

  it('send milestones', async () => {
    const [send = ''] = blocksOf(operation, 'Send milestones')
    expect(await run(send, { STAFF_NAME: 'ada' })).toContain('client_account_created')
    await receiver.until(/^client_account_created .*"lead_id":1,/)
    await receiver.until(/^credit_scan_completed .*"lead_id":1,/)
    await receiver.until(/^score_update .*"experian_gain":12,.*"lead_id":1,/)
  })

  it('export and erase a borrower', async () => {
    const [commands = ''] = blocksOf(integrate, 'Export or erase a borrower')
    const answers = await run(commands)
    expect(successes(answers)).toBe(2)
    expect(answers).toMatch(/"first_name":"Ada"/)
  })

  // it starts a dozen processes, one after the other
  it('set up a deployment, run its processes and add a partner', async () => {
    const [setUp = '', byNpm = '', bySupervisor = ''] = blocksOf(operation, 'On several machines')
    const withoutValues = setUp.replace(/^export .*\n/gm, '').replace(/^MIGRATION_DATABASE_URL=\S+ /m, '')
    await run(withoutValues, { MIGRATION_DATABASE_URL: service.ownerUrl })
    for (const processes of [byNpm, bySupervisor]) {
      const [server = '', worker = ''] = processes.split('\n')
      await Promise.all([runs(server, /API is listening/), runs(worker, /worker is polling/)])
    }
    const [add = ''] = blocksOf(operation, 'Add a partner')
    // the page's is the first of its deployment
    const { next } = await service.sql
      .selectFrom('partners')
      .select(({ fn }) => fn.max('id').as('next'))
      .executeTakeFirstOrThrow()
    const output = await run(add.replaceAll(/(issue|set|show) 1\b/g, `$1 ${next + 1}`))
    expect(output).toMatch(/prs_test_\w+/)
    expect(output).toMatch(/https:\/\/lender\.example\.com\/webhooks is not set yet[^]*whsec_/)
    expect(output).toMatch(
      /^requested changes +the URL https:\/\/lender\.example\.com\/webhooks, not certified$/m,
    )
  }, 180_000)

  /** Starts a command that goes on until it is stopped, and waits for a line of its output. */
  async function runs(command: string, line: RegExp): Promise<void> {
    const options = { cwd: root, env: environment(), detached: true }
    const shell = spawn('sh', ['-euc', command], options)
    // as Ctrl-C does: npm passes on no signal
    const endAll = () => shell.pid && process.kill(-shell.pid, 'SIGTERM')
    const ended = once(shell, 'close')
    atEnd(async () => void (shell.exitCode ?? shell.signalCode ?? endAll()))
    await linesOf(shell).until(line)
    endAll()
    await ended
  }
})

type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** The receiver that the pages show. */
async function startReceiver(secret: string, port: number) {
  const env = { PATH: process.env.PATH, WEBHOOK_SECRET: secret, PORT: String(port) }
  const child = spawn('node', ['docs/receiver.mjs'], { cwd: root, env })
  atEnd(async () => void child.kill())
  const seen = linesOf(child)
  await seen.until(/^Waiting for webhooks$/)
  return {
    ...seen,
    secret,
    port,
    url: `http://127.0.0.1:${port}/webhooks`,
    stop: () => stopped(child),
  }
}

function linesOf({ stdout }: { stdout: NodeJS.ReadableStream }) {
  const lines: string[] = []
  createInterface({ input: stdout }).on('line', (line) => lines.push(line))
  return { lines, until: (line: RegExp) => until(async () => lines.some((printed) => line.test(printed))) }
}

async function stopped(child: ChildProcess): Promise<void> {
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  await ended
}
