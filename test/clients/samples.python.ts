import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { temporaryFolder } from '../support/folder.ts'
import { programOfGuide, samplePartner, samplesIn } from './samples.ts'

const python = process.env.PYTHON ?? 'python3'
const client = path.join(import.meta.dirname, '../../src/clients/python')

describe('the samples of the reference in Python', () => {
  const file = path.join(temporaryFolder(), 'sample.py')
  let partner: Awaited<ReturnType<typeof samplePartner>>
  beforeAll(async () => {
    partner = await samplePartner()
  })

  it.each(samplesIn('Python'))('call $path', async (sample) => {
    const output = await partner.run(sample, (source) => {
      writeFileSync(file, source)
      return ['env', `PYTHONPATH=${client}`, python, '-u', file]
    })
    expect(output !== '').toBe(sample.source.includes('print('))
  })

  it('are a program in integrate.md, which refers a borrower and follows events', async () => {
    writeFileSync(file, programOfGuide('python'))
    const program = partner.start(['env', `PYTHONPATH=${client}`, python, '-u', file])
    const [, id] = /^lead (\d+)$/m.exec(await program.until(/^lead \d+$/m)) ?? []
    expect(await program.until(new RegExp(`^lead_received ${id}$`, 'm'))).toContain(`lead ${id}`)
  })
})
