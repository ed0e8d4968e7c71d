import { beforeAll, describe, expect, it } from '@jest/globals'
import type { Command } from 'commander'
import { staffProgram } from '../../src/staff/program.ts'
import { temporaryFolder } from '../support/folder.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { carryOut } from './context.ts'

const NEEDED =
  'ENCRYPTION_KEY is not set: this command reads or writes what is encrypted. Set it as API and worker have it; see docs/settings.md.'

/** Every command, as it is called. `lead` and `partner` stand for one of each. */
const without = [
  'inbox',
  'find lead',
  'find LOAN-2026-131',
  'partner add Acme',
  'partner contact partner tech@lender.example',
  'partner show partner',
  'partner health partner',
  'partner list',
  'partner self-service partner on',
  'partner dormancy partner 180',
  'key issue partner',
  'key rotate partner',
  'key revoke 1',
  'key list partner',
  'endpoint set partner http://127.0.0.1:9/ --untested',
  'endpoint show partner',
  'endpoint notify partner lead.closed',
  'endpoint pause partner',
  'endpoint resume partner',
  'endpoint cancel-change partner',
  'milestone lead contract_signed',
  'lead list --stalled',
  'lead hold lead --reason litigation',
  'lead release lead',
  'lead advance lead --days 1',
  'lead close lead --reason withdrew',
  'closing list',
  'closing cancel lead',
  'delivery list',
  'delivery resend evt_01a1c0d6-0000-7000-8000-000000000000',
  'delivery replay --partner partner --dry-run',
  'workflow rebuild',
  'workflow repair',
  'workflow watch a-build --seconds 0 --at-least 0',
  'record show',
  'record seen 1',
  'record restored',
  'encryption show',
  'encryption forget 0123abcd',
  'audit list',
  'audit export',
  'access report --lead lead',
  'erasure list',
  'erasure show lead',
  'erasure cancel lead',
  'erasure apply',
  'erasure dismiss lead',
  'erasure rebuild',
  'retention show',
  'retention run --class notices',
  'retention confirm 1',
  'lead erase lead --reason mistake',
]
const needing = [
  'find ada@example.com',
  'lead show lead',
  'lead export lead',
  'endpoint set partner http://127.0.0.1:9/',
  'endpoint rotate-secret partner',
  'endpoint test partner',
  'encryption rewrite',
]

describe('without ENCRYPTION_KEY', () => {
  let service: Service
  let partner: TestPartner
  let lead: number

  beforeAll(async () => {
    service = await prepareService({ ERASURE_JOURNAL: temporaryFolder() })
    partner = await service.addPartner()
    await service.startWorker()
    lead = await leadsOf(service, partner).start()
  }, 60_000)

  const refusalsOf = (line: string) => {
    const words = line.split(' ').map((word) => ({ lead: `${lead}`, partner: `${partner.id}` })[word] ?? word)
    // a noun has the name of what it is about
    words[0] = line.split(' ')[0] ?? ''
    return carryOut({ ...service.environment, ENCRYPTION_KEY: '' }, [words])
  }

  it('has every command here', () => {
    const program = staffProgram(() => async () => {})
    const named = (noun: Command) =>
      noun.commands.length === 0
        ? [noun.name()]
        : noun.commands.map((each) => `${noun.name()} ${each.name()}`)
    const all = program.commands.flatMap(named)
    const listed = [...without, ...needing]
    expect(all.filter((name) => !listed.some((line) => `${line} `.startsWith(`${name} `)))).toEqual([])
  })

  it.each(without)(
    '%s works, or refuses for another reason',
    async (line) => {
      const refusals = await refusalsOf(line)
      expect(refusals).not.toContain(NEEDED)
      expect(refusals.filter((refusal) => refusal.startsWith('The command failed'))).toEqual([])
    },
    20_000,
  )

  it.each(needing)('%s says in one line that it needs it', async (line) => {
    expect(await refusalsOf(line)).toEqual([NEEDED])
  })
})
