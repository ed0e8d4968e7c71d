import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createHash } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { openJournal } from '../../src/capabilities/erasure/statements/journal.ts'
import type { JournalLine } from '../../src/capabilities/erasure/decisions/erasure.ts'
import { temporaryFolder } from '../support/folder.ts'

const lineOf = (lead: number): JournalLine => ({
  step: 'erased',
  intent: 'b6d7f1c2-0000-4000-8000-000000000000',
  deployment: '0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
  lead_id: lead,
  event_id: `evt_${lead}`,
  at: '2026-03-09T10:30:00.000Z',
})
const leadsIn = async (folder: string) => {
  const leads: number[] = []
  for await (const { lead_id: lead } of openJournal(folder).read()) leads.push(lead)
  return leads
}
const newFolder = () => path.join(temporaryFolder(), 'erasures')

describe('the erasure journal', () => {
  it('has the lines of all machines, each in a file of its own that only its owner reads', async () => {
    const folder = newFolder()
    expect(await leadsIn(folder)).toEqual([])
    const [first, second] = [openJournal(folder, 'worker-1'), openJournal(folder, '../worker/2')]
    await first.append([lineOf(1), lineOf(2)])
    await second.append([lineOf(3)])
    await first.append([lineOf(4)])
    expect(readdirSync(folder).toSorted()).toEqual(['.._worker_2.jsonl', 'worker-1.jsonl'])
    expect((await leadsIn(folder)).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4])
    expect(statSync(path.join(folder, 'worker-1.jsonl')).mode & 0o777).toBe(0o600)
  })

  it('answers with the hash of each line, which anybody can calculate', async () => {
    const folder = newFolder()
    const [, { file, sha256 } = { file: '', sha256: '' }] = await openJournal(folder).append([
      lineOf(1),
      lineOf(2),
    ])
    const line = readFileSync(path.join(folder, file), 'utf8').split('\n')[1] ?? ''
    expect(createHash('sha256').update(line).digest('hex')).toBe(sha256)
  })

  it('ignores the half line that a crash left, and does not go on in it', async () => {
    const folder = newFolder()
    const journal = openJournal(folder, 'a')
    await journal.append([lineOf(1)])
    const half = JSON.stringify(lineOf(2)).slice(0, -9)
    appendFileSync(path.join(folder, 'a.jsonl'), half)
    expect(await leadsIn(folder)).toEqual([1])
    await journal.append([lineOf(3)])
    expect(await leadsIn(folder)).toEqual([1, 3])
  })

  it('loses no line of writers at the same time', async () => {
    const folder = newFolder()
    const ids = Array.from({ length: 40 }, (_, index) => index)
    await Promise.all(ids.map((id) => openJournal(folder, 'a').append([lineOf(id)])))
    expect((await leadsIn(folder)).toSorted((a, b) => a - b)).toEqual(ids)
  })

  it.each(['{"lead_id": 7}', '{not json}'])('is refused with a line that is damaged: %s', async (line) => {
    const folder = newFolder()
    await openJournal(folder, 'a').append([lineOf(1)])
    appendFileSync(path.join(folder, 'a.jsonl'), `${line}\n`)
    await expect(leadsIn(folder)).rejects.toThrow(/damaged: .*a\.jsonl, line 2\./)
  })

  it('says before anything is erased that it cannot be written', async () => {
    const file = path.join(temporaryFolder(), 'a-file')
    writeFileSync(file, '')
    await expect(openJournal(file).prepare()).rejects.toThrow('EEXIST')
    await expect(openJournal(file).append([lineOf(1)])).rejects.toThrow('EEXIST')
  })
})
