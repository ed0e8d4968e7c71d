import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from '@jest/globals'
import * as prettier from 'prettier'
import { journey, request } from '../../src/clients/typescript/src/fixtures.ts'
import { openApiDocument } from '../api/openapi-document.ts'
import { anyPort } from '../support/any-port.ts'
import { temporaryFolder } from '../support/folder.ts'
import { programOfGuide, samplePartner, samplesIn } from './samples.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '../..')
const client = path.join(root, 'src/clients/typescript/src/index.ts')
const calls = Object.keys(openApiDocument.paths)

const ofThisRepository = (source: string) =>
  source.replaceAll("'partner-referrals'", `'${pathToFileURL(client).href}'`)

describe('the samples of the reference', () => {
  it.each(['TypeScript', 'Python', 'curl'])('are there for each operation, in %s', (label) => {
    expect(samplesIn(label).map((sample) => sample.path)).toEqual(calls)
  })

  it.each(['TypeScript', 'Python'])('use the methods that the README of the client lists, in %s', (label) => {
    const readme = readFileSync(path.join(root, `src/clients/${label.toLowerCase()}/README.md`), 'utf8')
    const rows = [...readme.matchAll(/^\| `([a-z/-]+)` +\| `([\w.]+)` +\|$/gm)]
    const used = samplesIn(label).map(({ path: call, source }) => [
      call.slice(1),
      /\breferrals\.([\w.]+)\(/.exec(source)?.[1],
    ])
    expect(rows.map(([, call, method]) => [call, method])).toEqual(used)
  })

  describe('in curl', () => {
    const samples = samplesIn('curl')
    let partner: Awaited<ReturnType<typeof samplePartner>>
    beforeAll(async () => {
      partner = await samplePartner()
    })

    it.each(samples)('call $path', async (sample) => {
      const output = await partner.run(sample, (source) => [
        'sh',
        '-euc',
        source.replaceAll('curl ', 'curl -sS '),
      ])
      expect(output).toMatch(/^\{"success":true[,}]/)
    })
  })

  describe('in TypeScript', () => {
    const samples = samplesIn('TypeScript')
    const folder = temporaryFolder()
    let partner: Awaited<ReturnType<typeof samplePartner>>
    beforeAll(async () => {
      partner = await samplePartner()
    })

    it.each(samples)('call $path', async (sample) => {
      const file = path.join(folder, 'sample.ts')
      const output = await partner.run(sample, (source) => {
        writeFileSync(file, ofThisRepository(source))
        return [process.execPath, file]
      })
      expect(output !== '').toBe(sample.source.includes('console.log('))
      expect(output).not.toMatch(/undefined|\[object/)
    })

    it('are a program in integrate.md, which refers a borrower, receives webhooks and follows events', async () => {
      const port = await anyPort()
      const file = path.join(folder, 'program.ts')
      writeFileSync(
        file,
        ofThisRepository(programOfGuide('ts'))
          .replace("'express'", `'${pathToFileURL(path.join(root, 'node_modules/express/index.js')).href}'`)
          .replace('listen(4000)', `listen(${port})`),
      )
      const program = partner.start([process.execPath, file], { WEBHOOK_SECRET: partner.secret })
      const [, id] = /^lead (\d+)$/m.exec(await program.until(/^lead \d+$/m)) ?? []
      await program.until(new RegExp(`^lead_received ${id}$`, 'm'))
      const update = [...journey()].find(({ type }) => type === 'score_update')
      if (update === undefined) throw new Error('there is no score update')
      const { headers, body } = await request(update, partner.secret)
      const send = (sent: string) =>
        fetch(`http://127.0.0.1:${port}/webhooks`, { method: 'POST', headers, body: sent })
      expect((await send(body)).status).toBe(200)
      await program.until(/experianGain: \d+/)
      expect((await send(`${body} `)).status).toBe(400)
    })

    it('are typed', async () => {
      const programs = [...samples.map(({ source }) => source), programOfGuide('ts')]
      const files = programs.map((source, index) => {
        const file = path.join(folder, `sample-${index}.ts`)
        writeFileSync(file, source)
        return file
      })
      const compilerOptions = {
        strict: true,
        noEmit: true,
        target: 'es2022',
        module: 'nodenext',
        allowImportingTsExtensions: true,
        types: ['node'],
        typeRoots: [path.join(root, 'node_modules/@types')],
        paths: { 'partner-referrals': [client], express: [path.join(root, 'node_modules/@types/express')] },
      }
      writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
      writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
      const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
      const checked = run(process.execPath, [compiler, '-p', folder, '--singleThreaded'])
      await expect(checked).resolves.toMatchObject({ stdout: '' })
    })

    it('look as prettier has them', async () => {
      const options = { parser: 'typescript', semi: false, singleQuote: true }
      const formatted = await Promise.all(samples.map(({ source }) => prettier.format(source, options)))
      expect(samples.map(({ source }) => `${source}\n`)).toEqual(formatted)
    })
  })
})
