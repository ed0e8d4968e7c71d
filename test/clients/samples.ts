import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { atEnd } from '../support/at-end.ts'
import { partnerCalls } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { openApiDocument } from '../api/openapi-document.ts'

const root = path.join(import.meta.dirname, '../..')

/** The program that integrate.md begins with, in one language. */
export function programOfGuide(language: 'ts' | 'python'): string {
  const [, section = ''] = readFileSync(path.join(root, 'docs/integrate.md'), 'utf8').split(
    '\n## Use a client\n',
  )
  const [own = ''] = section.split('\n## ')
  return own
    .split('```')
    .filter((block) => block.startsWith(`${language}\n`))
    .map((block) => block.slice(language.length + 1))
    .join('\n')
}

export interface Sample {
  path: string
  source: string
}

/** The samples of the reference in one language, in its order. */
export const samplesIn = (label: string): Sample[] =>
  Object.entries(openApiDocument.paths).flatMap(([call, methods]) =>
    Object.values(methods).flatMap((operation) =>
      operation['x-codeSamples']
        .filter((sample) => sample.label === label)
        .map(({ source }) => ({ path: call, source })),
    ),
  )

/** A partner who tries samples, one after the other: one that pauses the endpoint comes before the one that resumes it. */
export async function samplePartner() {
  const service = await sharedService()
  const { key, endpoint } = await service.addPartner()
  const variables = { KEY: key, API: `http://127.0.0.1:${service.port}/v1` }
  return {
    secret: endpoint.secret,
    start: (command: readonly string[], more: Record<string, string> = {}) =>
      start(command, { ...variables, ...more }),
    /** What a command prints that runs the sample with a lead of this partner. */
    run: async ({ source }: Sample, commandOf: (source: string) => readonly string[]) => {
      const lead = await newLead(service, key)
      const own = source
        .replaceAll('1042', String(lead.id))
        .replaceAll(/evt_[\w-]+/g, lead.eventId)
        .replaceAll('https://lender.example.com/webhooks', `${endpoint.url}/new`)
      const program = start(commandOf(own), variables)
      // it follows events without an end
      if (source.includes('.follow(')) return program.until(/./)
      return program.end()
    },
  }
}

async function newLead(service: SharedService, key: string): Promise<{ id: number; eventId: string }> {
  const { createLead } = partnerCalls(service.port, key)
  const id = await createLead()
  const row = await service.sql
    .selectFrom('deliveries')
    .select('event_id')
    .where('lead_id', '=', id)
    .executeTakeFirstOrThrow()
  return { id, eventId: row.event_id }
}

/** A program with what it prints. It does not outlive the test file. */
function start([program = '', ...args]: readonly string[], variables: Record<string, string>) {
  const child = spawn(program, args, { env: { ...process.env, NO_COLOR: '1', ...variables } })
  atEnd(async () => void child.kill('SIGKILL'))
  let output = ''
  let errors = ''
  child.stdout.on('data', (part) => (output += String(part)))
  child.stderr.on('data', (part) => (errors += String(part)))
  const ended = once(child, 'close')
  return {
    /** What it has printed once this is part of it. */
    until: (pattern: RegExp) =>
      until(async () => {
        if (child.exitCode !== null) throw new Error(`${output}${errors}`)
        return pattern.test(output) && output
      }),
    /** All that it printed. */
    end: async () => {
      await ended
      if (child.exitCode !== 0) throw new Error(`${output}${errors}`)
      return output
    },
  }
}
