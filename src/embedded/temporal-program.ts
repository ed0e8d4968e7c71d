import { execFile } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { EnvHttpProxyAgent, fetch } from 'undici'
import { lastLine } from './launch.ts'

const run = promisify(execFile)

/** One version from every source: a data file that one version has written may not open in another. */
const VERSION = '1.5.1'
// a build of the same source without release flags says 0.0.0-DEV
const EXPECTED = /temporal version (1\.5\.1|0\.0\.0-DEV) \(Server 1\.29\.1[,)]/
const SILENCE_MS = 20_000
const PROGRESS_MS = 30_000

interface Search {
  environment: NodeJS.ProcessEnv
  /** Told of everything that takes more than a moment. */
  report: (line: string) => void
  cacheFolder?: string
  downloadAddress?: string
}

/**
 * The path of the Temporal CLI, which contains the development server: from TEMPORAL_CLI_PATH, the PATH, the user's
 * cache, the official download, or a build with Go. The last two are kept in the cache.
 *
 * @throws {Error} one line that says why each way failed.
 */
export async function findTemporal(search: Search): Promise<string> {
  const { environment, cacheFolder = userCache(environment) } = search
  const given = environment.TEMPORAL_CLI_PATH
  if (given)
    return requireVersion(given).catch((error: unknown) => {
      throw new Error(`${(error as Error).message}. Correct TEMPORAL_CLI_PATH, or unset it.`, {
        cause: error,
      })
    })
  if (EXPECTED.test(await versionOf('temporal', environment))) return 'temporal'
  const cached = path.join(cacheFolder, `temporal-${VERSION}`)
  if (existsSync(cached)) return cached
  const problems: string[] = []
  for (const fetchInto of [download, build]) {
    mkdirSync(cacheFolder, { recursive: true })
    const folder = mkdtempSync(path.join(cacheFolder, 'unfinished-'))
    try {
      await fetchInto(folder, search)
      renameSync(await requireVersion(path.join(folder, 'temporal')), cached)
      return cached
    } catch (error) {
      problems.push((error as Error).message)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  throw new Error(
    `Temporal CLI ${VERSION} was not found: ${problems.join('; ')}. ` +
      `Put \`temporal\` ${VERSION} on the PATH, name it in TEMPORAL_CLI_PATH, install Go, ` +
      'or set TEMPORAL_ADDRESS to a running server.',
  )
}

async function requireVersion(program: string): Promise<string> {
  const version = await versionOf(program)
  if (EXPECTED.test(version)) return program
  throw new Error(`${program} is not Temporal CLI ${VERSION}: ${version || 'it does not run'}`)
}

async function versionOf(program: string, env?: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await run(program, ['--version'], { env }).catch(() => ({ stdout: '' }))
  return stdout.trim()
}

function userCache({ XDG_CACHE_HOME }: NodeJS.ProcessEnv): string {
  const usual = path.join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache')
  const base = process.platform === 'darwin' ? usual : (XDG_CACHE_HOME ?? usual)
  return path.join(base, 'partner-referral-service')
}

/** Downloads the official program; gives up after 20 s without a connection or without data. */
async function download(folder: string, { report, downloadAddress }: Search): Promise<void> {
  const address = downloadAddress ?? 'https://temporal.download/cli/archive'
  report(`Downloading Temporal CLI ${VERSION} from ${new URL(address).host} (once, about 50 MB) …`)
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const archive = path.join(folder, 'archive')
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: SILENCE_MS },
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
  })
  try {
    const url = `${address}/v${VERSION}?platform=${process.platform}&arch=${arch}`
    const response = await fetch(url, { dispatcher })
    if (!response.ok || !response.body) throw new Error(`the server answered ${response.status}`)
    await pipeline(response.body, createWriteStream(archive))
    await run('tar', ['-xzf', archive, '-C', folder])
  } catch (error) {
    throw new Error(`the download failed (${lastLine(error)})`, { cause: error })
  } finally {
    await dispatcher.destroy()
  }
}

/** Builds the program with Go; takes 2 to 4 minutes. */
async function build(folder: string, { environment, report }: Search): Promise<void> {
  const started = Date.now()
  const say = () => {
    const seconds = Math.round((Date.now() - started) / 1000)
    report(`Building Temporal CLI ${VERSION} with Go (once, about 4 minutes) … ${seconds} s`)
  }
  const progress = setInterval(say, PROGRESS_MS)
  const flags = `-ldflags=-s -w -X github.com/temporalio/cli/temporalcli.Version=${VERSION}`
  const source = `github.com/temporalio/cli/cmd/temporal@v${VERSION}`
  try {
    await run('go', ['version'], { env: environment })
    say()
    await run('go', ['install', flags, source], { env: { ...environment, GOBIN: folder } })
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const problem = isMissing ? 'Go is not installed' : `the build with Go failed (${lastLine(error)})`
    throw new Error(problem, { cause: error })
  } finally {
    clearInterval(progress)
  }
}
