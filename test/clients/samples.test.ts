import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from '@jest/globals'
import * as prettier from 'prettier'
import { openApiDocument } from '../api/openapi-document.ts'
import { temporaryFolder } from '../support/folder.ts'
import { samplePartner, samplesIn } from './samples.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '../..')
const client = path.join(root, 'src/clients/typescript/src/index.ts')
const calls = Object.keys(openApiDocument.paths)

describe('the samples of the reference', () => {
  it.each(['TypeScript', 'Python', 'curl'])('are there for each operation, in %s', (label) => {
    expect(samplesIn(label).map((sample) => sample.path)).toEqual(calls)
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
        writeFileSync(file, source.replace("'partner-referrals'", `'${pathToFileURL(client).href}'`))
        return [process.execPath, file]
      })
      expect(output !== '').toBe(sample.source.includes('console.log('))
      expect(output).not.toMatch(/undefined|\[object/)
    })

    it('are typed', async () => {
      const files = samples.map(({ source }, index) => {
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
        paths: { 'partner-referrals': [client] },
      }
      writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
      writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
      const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
      await run(process.execPath, [compiler, '-p', folder, '--singleThreaded'])
    })

    it('look as prettier has them', async () => {
      const options = { parser: 'typescript', semi: false, singleQuote: true }
      const formatted = await Promise.all(samples.map(({ source }) => prettier.format(source, options)))
      expect(samples.map(({ source }) => source)).toEqual(formatted)
    })
  })
})
