import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { CheckReport } from '../../../../capabilities/self-service/decisions/certification.ts'
import { argumentsOf, type Command, type Terminal } from '../command.ts'
import { isSecret, newSecret } from '../progress.ts'
import { FAILED, Refusal, USAGE } from '../refusal.ts'
import { receiverUrl } from '../sandbox-key.ts'
import { makeFolder, readState, stateFolder, writeState } from '../state-folder.ts'
import { runChecks } from './checks.ts'
import { junit, type TestCase } from './junit.ts'

const HELP = `prs certify URL

Shows whether a receiver handles webhooks as it must: the six checks of certify-endpoint. Everything is sent from here: it
needs no key, and nothing but your receiver is called.

  URL             your receiver, such as http://localhost:3000/webhooks
  --secret SECRET what your receiver verifies with, whsec_…; by default $WEBHOOK_SECRET, and otherwise one that is made
                  for this machine, kept and printed; with --json, on standard error
  --junit FILE    write the results as JUnit XML
  --state FOLDER  where a secret that was made is kept; by default as for prs listen
  --json          one JSON object a line
  -h, --help

Exit codes: 0 all checks passed, 1 some did not, 2 the command cannot run like this.`

const OPTIONS = {
  secret: { type: 'string' },
  junit: { type: 'string' },
  state: { type: 'string' },
  json: { type: 'boolean' },
} as const

const MARKS = { passed: '✓', failed: '✗', not_judged: '?' } as const
const SECOND_MS = 1000

export const certify: Command = {
  name: 'certify',
  summary: 'check a receiver of webhooks, without a network to the service',
  help: HELP,
  async run(args, terminal) {
    const { values, positionals } = argumentsOf('certify', args, OPTIONS)
    const how = 'prs certify http://localhost:3000/webhooks'
    if (positionals.length > 1) throw new Refusal(`certify takes one URL: ${how}.`, USAGE)
    const url = receiverUrl(positionals[0], how)
    const { secret, isMade } = secretOf(values, terminal)
    const { write, note } = terminal
    const isJson = values.json === true
    // at once, and not after all checks
    if (values.junit !== undefined) writeReport(values.junit, [])
    // programs read reports alone
    const tell = isJson ? note : write
    if (isMade) tell(`Signing secret: ${secret}. Start your receiver with it, or give its own as --secret.`)
    const reports: CheckReport[] = []
    await runChecks({ url, secret, signal: terminal.signal }, (report) => {
      reports.push(report)
      write(isJson ? JSON.stringify(report) : linesOf(report))
    })
    if (values.junit !== undefined) writeReport(values.junit, reports.map(testCaseOf))
    const passed = reports.filter(({ result }) => result === 'passed').length
    if (!isJson) write(`${passed} of ${reports.length} checks passed`)
    return passed === reports.length ? 0 : FAILED
  },
}

/** The receiver's secret, or one of this machine's own, which stays the same. */
function secretOf(
  options: { secret?: string | undefined; state?: string | undefined },
  { environment }: Terminal,
): { secret: string; isMade: boolean } {
  const given = options.secret ?? environment.WEBHOOK_SECRET ?? ''
  if (given !== '') {
    if (!isSecret(given))
      throw new Refusal(
        `${options.secret === undefined ? 'WEBHOOK_SECRET' : '--secret'} is no signing secret: give the whsec_… that your receiver verifies with.`,
        USAGE,
      )
    return { secret: given, isMade: false }
  }
  const folder = stateFolder(options.state, environment)
  makeFolder(folder)
  const file = path.join(folder, 'certify.json')
  const stored = readState(file)?.secret
  const secret = isSecret(stored) ? stored : newSecret()
  if (secret !== stored) writeState(file, { secret })
  return { secret, isMade: true }
}

function linesOf({ check, sent, result, received, hint, duration_ms: ms }: CheckReport): string {
  const line = `${MARKS[result]} ${check}: ${sent}: ${received}${ms === null ? '' : ` (${ms} ms)`}`
  // what was not sent has nothing to say
  return hint === null || ms === null ? line : `${line}\n    ${hint}`
}

function testCaseOf(report: CheckReport): TestCase {
  const { check, sent, result, expected, received, hint, duration_ms: ms } = report
  const testCase = { name: `${check}: ${sent}`, seconds: (ms ?? 0) / SECOND_MS }
  if (result === 'passed') return testCase
  if (ms === null) return { ...testCase, skipped: received }
  const message = `expected ${expected}, received ${received}`
  return { ...testCase, failure: { message, text: hint ?? message } }
}

function writeReport(file: string, cases: readonly TestCase[]): void {
  try {
    writeFileSync(file, junit(cases))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Refusal(`The report cannot be written to ${file} (${code}): give another --junit.`, USAGE, {
      cause: error,
    })
  }
}
