import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { buildTemporal, downloadTemporal } from './temporal-sources.ts'

const run = promisify(execFile)

/** One version from every source, so that a data file written by one always opens in another. */
const temporalVersion = '1.5.1'
// A build of the same source without release flags says 0.0.0-DEV and the same server.
const rightVersion = /temporal version (1\.5\.1|0\.0\.0-DEV) \(Server 1\.29\.1[,)]/

interface Search {
  environment: NodeJS.ProcessEnv
  /** Told of everything that takes more than a moment. */
  report: (line: string) => void
  cacheFolder?: string
  downloadAddress?: string
}

/**
 * The path of Temporal's command line program, which holds the development server: TEMPORAL_CLI_PATH, the
 * PATH, the user's cache, the official download, or a build with Go. What was fetched is kept in the cache.
 *
 * @throws {Error} one line that names all ways, when none leads to it.
 */
export async function findTemporal(search: Search): Promise<string> {
  const { environment, report, cacheFolder = userCache(environment), downloadAddress } = search
  const given = environment.TEMPORAL_CLI_PATH
  if (given) return requireVersion(given)
  if ((await versionOf('temporal', environment)).match(rightVersion)) return 'temporal'
  const cached = path.join(
    cacheFolder,
    `temporal-${temporalVersion}${process.platform === 'win32' ? '.exe' : ''}`,
  )
  if (existsSync(cached)) return cached
  const problems: string[] = []
  for (const source of [downloadTemporal, buildTemporal]) {
    mkdirSync(cacheFolder, { recursive: true })
    const folder = mkdtempSync(path.join(cacheFolder, 'unfinished-'))
    try {
      const program = await source({ folder, version: temporalVersion, environment, report, downloadAddress })
      renameSync(await requireVersion(program), cached)
      return cached
    } catch (error) {
      problems.push((error as Error).message)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  throw new Error(
    `Temporal CLI ${temporalVersion} was not found: ${problems.join('; ')}. ` +
      `Put \`temporal\` ${temporalVersion} on the PATH, name it in TEMPORAL_CLI_PATH, install Go, ` +
      'or set TEMPORAL_ADDRESS to a running server.',
  )
}

async function requireVersion(program: string): Promise<string> {
  const version = await versionOf(program)
  if (rightVersion.test(version)) return program
  throw new Error(`${program} is not Temporal CLI ${temporalVersion}: ${version || 'it does not run'}`)
}

async function versionOf(program: string, environment?: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await run(program, ['--version'], { env: environment }).catch(() => ({ stdout: '' }))
  return stdout.trim()
}

function userCache(environment: NodeJS.ProcessEnv): string {
  const base = {
    darwin: path.join(homedir(), 'Library', 'Caches'),
    win32: environment.LOCALAPPDATA,
  }[process.platform as string]
  return path.join(
    base ?? environment.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'),
    'partner-referral-service',
  )
}
