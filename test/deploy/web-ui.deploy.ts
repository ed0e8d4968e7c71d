import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { anyPort } from '../support/any-port.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { makeCertificate } from '../webhooks/certificate.ts'

const recipe = readFileSync(path.join(import.meta.dirname, '../../docs/deploy/web-ui/nginx.conf'), 'utf8')

/** Cookies by who has them: whom oauth2-proxy would say it is. */
const people: Record<string, Record<string, string>> = {
  viewer: { 'x-auth-request-email': 'vi@example.com', 'x-auth-request-groups': 'staff,temporal-viewers' },
  operator: {
    'x-auth-request-email': 'op@example.com',
    'x-auth-request-groups': 'temporal-viewers,temporal-operators',
  },
  namesake: {
    'x-auth-request-email': 'na@example.com',
    'x-auth-request-groups': 'not-temporal-operators,temporal-operators-of-others',
  },
}

describe('docs/deploy/web-ui/nginx.conf', () => {
  let origin: string
  let logFile: string
  const asked: IncomingMessage[] = []

  beforeAll(async () => {
    const folder = temporaryFolder()
    const ui = (name: string) =>
      startServer((request, response) => {
        asked.push(request)
        response.end(name)
      })
    const signIn = await startServer((request, response) => {
      const person = people[/person=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? '']
      if (request.url !== '/oauth2/auth') response.end('sign in here')
      else response.writeHead(person === undefined ? 401 : 202, person).end()
    })
    const port = await anyPort()
    origin = `https://127.0.0.1:${port}`
    logFile = path.join(folder, 'people.log')
    const { cert, key } = makeCertificate({ host: '127.0.0.1' })
    writeFileSync(path.join(folder, 'ui.pem'), cert)
    writeFileSync(path.join(folder, 'ui.key'), key)
    const replaced = replaceAll(recipe, {
      'user www-data;': `pid ${folder}/nginx.pid; error_log ${folder}/error.log; daemon off;`,
      'http {': `http { access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};`,
      '127.0.0.1:8234': `127.0.0.1:${await ui('reading')}`,
      '127.0.0.1:8233': `127.0.0.1:${await ui('acting')}`,
      '127.0.0.1:4180': `127.0.0.1:${signIn}`,
      'listen 443': `listen 127.0.0.1:${port}`,
      '/etc/ssl/temporal': folder,
      '/var/log/nginx/temporal-ui.log': logFile,
    })
    const file = path.join(folder, 'nginx.conf')
    writeFileSync(file, replaced)
    // throws with what nginx says of a fault
    execFileSync('nginx', ['-t', '-q', '-c', file, '-e', `${folder}/error.log`])
    const nginx = spawn('nginx', ['-c', file, '-e', `${folder}/error.log`], { stdio: 'ignore' })
    atEnd(async () => {
      nginx.kill('SIGTERM')
      await once(nginx, 'exit')
    })
    await until(async () => call({ path: '/' }).catch(() => undefined))
  })

  /** As curl sends it: a path is not tidied up. */
  async function call(request: {
    path: string
    person?: string
    method?: string
    headers?: Record<string, string>
  }) {
    const { path: target, person, method = 'GET', headers = {} } = request
    const cookie = person === undefined ? {} : { cookie: `person=${person}` }
    const sent = httpsRequest(`${origin}${target}`, {
      method,
      headers: { accept: 'text/html', ...cookie, ...headers },
      rejectUnauthorized: false,
    }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of response) text += String(chunk)
    return { status: response.statusCode, location: response.headers.location, text }
  }

  it('shows nothing to who is not signed in, but the way to do so', async () => {
    const before = asked.length
    const away = '/namespaces/default/workflows/lead-1?run=2'
    expect(await call({ path: away })).toMatchObject({
      status: 302,
      location: expect.stringContaining(`/oauth2/sign_in?rd=${away}`),
    })
    const json = { accept: 'application/json' }
    for (const method of ['GET', 'POST', 'DELETE'])
      expect(await call({ path: '/api/v1/settings', method, headers: json })).toMatchObject({ status: 401 })
    const forged = { 'x-auth-request-groups': 'temporal-operators', 'x-auth-request-email': 'a@b.example' }
    expect(await call({ path: '/api/v1/settings', headers: { ...json, ...forged } })).toMatchObject({
      status: 401,
    })
    // for nginx alone
    expect((await call({ path: '/oauth2/auth', person: 'operator' })).status).toBe(404)
    expect((await call({ path: '/oauth2/sign_in' })).text).toBe('sign in here')
    expect(asked).toHaveLength(before)
  })

  it.each([
    ['viewer', 'reading'],
    ['namesake', 'reading'],
    ['operator', 'acting'],
  ])('takes a %s to the Web UI for %s, whatever the request says', async (person, name) => {
    const forged = { 'x-auth-request-groups': 'temporal-operators' }
    expect(await call({ path: '/', person, headers: forged })).toMatchObject({ status: 200, text: name })
    const signal = '/api/v1/namespaces/default/workflows/lead-1/signal/paid'
    expect((await call({ path: signal, person, method: 'POST' })).text).toBe(name)
  })

  it('passes on no other method than that of the request, and no token', async () => {
    const headers = {
      'x-http-method-override': 'DELETE',
      authorization: 'Bearer stolen',
      'authorization-extras': 'stolen',
    }
    await call({ path: '/api/v1/namespaces/default/schedules/a', person: 'viewer', method: 'POST', headers })
    const { method, headers: passed } = asked.at(-1) ?? { headers: {} }
    expect(method).toBe('POST')
    expect(Object.keys(headers).filter((name) => name in passed)).toEqual([])
  })

  it('logs who did what', async () => {
    await call({ path: '/api/v1/who', person: 'operator', method: 'POST' })
    const line = await until(async () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .find((each) => each.includes('/api/v1/who')),
    )
    expect(line).toMatch(/ op@example\.com POST \/api\/v1\/who 200$/)
  })
})

async function startServer(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(async () => void server.close())
  return (server.address() as AddressInfo).port
}

/** @throws {Error} if the recipe does not have one of them. */
function replaceAll(text: string, replacements: Record<string, string>): string {
  return Object.entries(replacements).reduce((done, [from, to]) => {
    if (!done.includes(from)) throw new Error(`The recipe has no ${from}`)
    return done.replaceAll(from, to)
  }, text)
}
