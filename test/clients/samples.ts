import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { atEnd } from '../support/at-end.ts'
import { partnerCalls } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { openApiDocument } from '../api/openapi-document.ts'

export interface Sample {
  path: string
  source: string
}

/** The samples of the reference in one language, in its order. */
export const samplesIn = (label: string): Sample[] =>
  Object.entries(openApiDocument.paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap((operation) =>
      operation['x-codeSamples']
        .filter((sample) => sample.label === label)
        .map(({ source }) => ({ path, source })),
    ),
  )

/** A partner who tries samples, one after the other: one that pauses the endpoint comes before the one that resumes it. */
export async function samplePartner() {
  const service = await sharedService()
  const { key, endpoint } = await service.addPartner()
  const variables = { KEY: key, API: `http://127.0.0.1:${service.port}/v1` }
  return {
    /** What a command prints that runs the sample with a lead of this partner. */
    run: async ({ source }: Sample, commandOf: (source: string) => readonly string[]) => {
      const lead = await newLead(service, key)
      const own = source
        .replaceAll('1042', String(lead.id))
        .replaceAll(/evt_[\w-]+/g, lead.eventId)
        .replaceAll('https://lender.example.com/webhooks', `${endpoint.url}/new`)
      return printed(commandOf(own), variables, source.includes('.follow('))
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

/** @param isEndless if it prints on and on: it is stopped once it has begun. */
async function printed(
  [program = '', ...args]: readonly string[],
  variables: Record<string, string>,
  isEndless: boolean,
): Promise<string> {
  const child = spawn(program, args, { env: { ...process.env, NO_COLOR: '1', ...variables } })
  atEnd(async () => void child.kill())
  if (isEndless) void stopOnceItPrints(child)
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  if (child.exitCode !== 0 && !(isEndless && child.killed)) throw new Error(`${output}${errors}`)
  return output
}

async function stopOnceItPrints(child: ChildProcess): Promise<void> {
  if (child.stdout === null) return
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
}
