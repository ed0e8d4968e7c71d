import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { type Delivery, Referrals } from '../../src/clients/typescript/src/index.ts'
import { anyPort } from '../support/any-port.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

/** What the lender prints, without the gains. */
export const HANDLED = [
  'LOAN-118 lead_received',
  'LOAN-118 client_account_created',
  'LOAN-118 credit_scan_completed',
  'LOAN-118 contract_signed',
  'LOAN-118 escrow_funded',
  'LOAN-118 note',
  'LOAN-118 note',
  'LOAN-118 task: apply again',
]

interface Lender {
  /** Of its block in docs/integrate.md. */
  language: 'ts' | 'python'
  command: string
  args?: readonly string[]
  environment?: NodeJS.ProcessEnv
  /** What an installed package would not need. */
  edit?: (program: string) => string
}

/** Runs the lender of docs/integrate.md: it is certified, and a journey is played. */
export async function playGuideLender({ language, command, args = [], environment, edit }: Lender) {
  const service = await sharedService()
  const { key } = await service.addPartner()
  const baseUrl = `http://127.0.0.1:${service.port}/v1`
  const guide = readFileSync('docs/integrate.md', 'utf8')
  const [, program = ''] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(guide) ?? []
  const file = path.join(temporaryFolder(), language === 'ts' ? 'lender.mts' : 'lender.py')
  writeFileSync(file, (edit?.(program) ?? program).replaceAll('4000', String(await anyPort())))
  const env = { PATH: process.env.PATH, ...environment, REFERRALS_KEY: key, REFERRALS_URL: baseUrl }
  const child = spawn(command, [...args, file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  atEnd(async () => void (child.kill() && (await ended)))
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const lead_id = await until(
    async () => Number(lines.find((line) => /^lead \d+$/.test(line))?.slice(5)) || false,
  )
  const referrals = new Referrals({ apiKey: key, baseUrl })
  await referrals.runScenario({ scenario: 'ready_after_two_updates', lead_id })
  await until(async () => {
    const open: Delivery[] = []
    for await (const each of referrals.deliveries({ states: ['pending', 'held'] })) open.push(each)
    return open.length === 0 && lines.includes('LOAN-118 task: apply again')
  })
  const handled = lines.filter((line) => line.startsWith('LOAN-118 '))
  return handled.map((line) => line.replace(/ \{.*| stage/, ''))
}
