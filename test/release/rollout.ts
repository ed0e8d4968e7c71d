import { execFile, spawn } from 'node:child_process'
import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { findTemporal } from '../../src/embedded/temporal-program.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import type { Service } from '../support/service.ts'

const scripts = path.join(import.meta.dirname, '../../docs/deploy/release')
export const DEPLOYMENT = 'referrals'

/** How an operator starts or stops a build’s workers: the machine that runs them is asked. */
const ASK = `fetch(process.argv[1]).then((answer) => process.exit(answer.ok ? 0 : 1))`

export interface Workers {
  start(build: string): Promise<unknown>
  stop(build: string): Promise<unknown>
}

interface Ended {
  code: number
  stdout: string
  stderr: string
}

/**
 * A machine from which builds are released by the documented scripts, as an operator sets it up.
 *
 * @param builds the folder with the code of each.
 * @param workers what starts and stops them.
 */
export async function releaseMachine(service: Service, builds: Record<string, string>, workers: Workers) {
  const folder = temporaryFolder()
  symlinkSync(await temporalPath(), path.join(folder, 'temporal'))
  const address = await serve(workers)
  const environment = {
    ...service.environment,
    PATH: [folder, path.dirname(process.execPath), process.env.PATH].join(':'),
    HOME: process.env.HOME ?? '',
    STAFF_NAME: 'releaser',
    TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT,
    START: commandIn(folder, 'start', address),
    STOP: commandIn(folder, 'stop', address),
  }
  const run = (command: string, args: string[], settings: Record<string, string>, cwd = folder) =>
    new Promise<Ended>((resolve) => {
      execFile(command, args, { cwd, env: { ...environment, ...settings } }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      )
    })
  const release = path.join(scripts, 'release.sh')
  return {
    /** Runs release.sh, or some of its steps, in the folder of the new build. */
    release: (settings: { OLD: string; NEW: string } & Record<string, string>, steps: string[] = []) =>
      run('sh', [release, ...steps], settings, builds[settings.NEW]),
    /** Begins steps of it, for something to interrupt them. */
    beginRelease: (settings: { OLD: string; NEW: string } & Record<string, string>, steps: string[]) =>
      spawn('sh', [release, ...steps], { cwd: builds[settings.NEW], env: { ...environment, ...settings } }),
    rollBack: (settings: { OLD: string; NEW: string }) =>
      run('sh', [path.join(scripts, 'rollback.sh')], settings),
    /** The build that is current, and how many percent ramp. */
    routing: async () => {
      const args = ['worker', 'deployment', 'describe', '--name', DEPLOYMENT, '--output', 'json']
      const { stdout } = await run('temporal', args, {})
      const { routingConfig } = JSON.parse(stdout) as { routingConfig: Record<string, unknown> }
      return [routingConfig.currentVersionBuildID, routingConfig.rampingVersionPercentage]
    },
  }
}

function commandIn(folder: string, verb: keyof Workers, address: string): string {
  const file = path.join(folder, verb)
  writeFileSync(file, `#!/bin/sh\nexec node -e '${ASK}' "${address}/${verb}/$1"\n`, { mode: 0o755 })
  return file
}

async function serve(workers: Workers): Promise<string> {
  const server = createServer((request, response) => {
    const [, verb = '', build = ''] = request.url?.split('/') ?? []
    workers[verb as keyof Workers](build).then(
      () => response.end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Scripts look for `temporal` on the PATH. */
async function temporalPath(): Promise<string> {
  const found = await findTemporal({ environment: process.env, report: () => {} })
  if (path.isAbsolute(found)) return found
  const folders = (process.env.PATH ?? '').split(':')
  return folders.map((folder) => path.join(folder, found)).find((file) => existsSync(file)) ?? found
}
