import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import path from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { anyPort } from '../support/any-port.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runTool, toolPath } from './tools.ts'

const root = path.join(import.meta.dirname, '../..')
const compose: { configs: { caddyfile: { content: string } } } = parse(
  readFileSync(path.join(root, 'docker-compose.yml'), 'utf8'),
  { merge: true },
)
const caddyfile = compose.configs.caddyfile.content.replace('${API_DOMAIN:-localhost}', 'api.example.com')

/** How often each request is made: Caddy chooses at random between two. */
const REQUESTS = 20

/** The proxy of docker-compose.yml, in front of an API process that works and one that does not. */
describe('the proxy of docker-compose.yml', () => {
  const folder = temporaryFolder()

  it('has a configuration that Caddy reads', async () => {
    const file = path.join(folder, 'Caddyfile')
    writeFileSync(file, caddyfile)
    const said = await runTool(toolPath('caddy'), ['adapt', '--config', file, '--adapter', 'caddyfile'])
    expect(said).toContain('"automatic_https":{"disable_redirects":true}')
  })

  it('takes the next process if a connection is refused, whatever the request', async () => {
    const stopped = await portOf(createTcpServer())
    stopped.server.close()
    const api = await startApi()
    const proxy = await startProxy(stopped.port, api.port)
    for (const method of ['POST', 'GET']) {
      const answers = await request(proxy, method)
      expect(answers).toEqual({ 200: REQUESTS })
      expect(api.took(method)).toBe(REQUESTS)
    }
  })

  it('never repeats a call that was sent, even with an Idempotency-Key', async () => {
    let cut = 0
    const dying = createTcpServer((socket) =>
      socket
        .on('error', () => {})
        .once('data', () => {
          cut += 1
          socket.destroy()
        }),
    )
    const api = await startApi()
    const proxy = await startProxy((await portOf(dying)).port, api.port)
    const answers = await request(proxy, 'POST')
    expect(cut).toBeGreaterThan(0)
    expect(answers).toEqual({ 200: REQUESTS - cut, 502: cut })
    expect(api.took('POST')).toBe(REQUESTS - cut)
  })

  /** The Caddyfile without TLS, on loopback, and with two processes by their ports instead of a name in DNS. */
  async function startProxy(...upstreams: number[]): Promise<number> {
    const port = await anyPort()
    const file = path.join(folder, `Caddyfile.${port}`)
    const here = caddyfile
      .replace('api.example.com {', `http://127.0.0.1:${port} {`)
      .replace(/^ +tls \{[^}]*\}\n/m, '')
      .replace(/^ +dynamic a \{[^}]*\}\n/m, `to ${upstreams.map((each) => `127.0.0.1:${each}`).join(' ')}\n`)
    writeFileSync(file, here)
    const env = { PATH: process.env.PATH, HOME: folder }
    const caddy = spawn(toolPath('caddy'), ['run', '--config', file, '--adapter', 'caddyfile'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    atEnd(async () => {
      caddy.kill()
      if (caddy.exitCode === null && caddy.signalCode === null) await once(caddy, 'exit')
    })
    for await (const line of caddy.stderr) if (String(line).includes('serving initial configuration')) break
    return port
  }
})

async function portOf(server: Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atEnd(async () => void server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

async function startApi() {
  const took: (string | undefined)[] = []
  const server = createServer((message, answer) => {
    took.push(message.method)
    message.resume().on('end', () => answer.end())
  })
  const { port } = await portOf(server)
  atEnd(async () => server.closeAllConnections())
  return { port, took: (method: string) => took.filter((each) => each === method).length }
}

/** How many answers of each status they got. */
async function request(port: number, method: string): Promise<Record<number, number>> {
  const counted: Record<number, number> = {}
  for (let sent = 0; sent < REQUESTS; sent += 1) {
    const { status } = await fetch(`http://127.0.0.1:${port}/v1/create-lead`, {
      method,
      headers: { 'idempotency-key': `lead-${sent}` },
      ...(method === 'POST' && { body: JSON.stringify({ first_name: 'Ada' }) }),
    })
    counted[status] = (counted[status] ?? 0) + 1
  }
  return counted
}
