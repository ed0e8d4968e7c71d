import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { EnvHttpProxyAgent, fetch } from 'undici'
import { HOUR_MS } from '../core/values/durations.ts'
import { lastLine } from './launch.ts'

const run = promisify(execFile)

/** One version from every source: a data file that one version has written may not open in another. */
const VERSION = '1.5.1'
// a build of the same source without release flags says 0.0.0-DEV
const EXPECTED = /temporal version (1\.5\.1|0\.0\.0-DEV) \(Server 1\.29\.1[,)]/
/**
 * SHA-256 of the release's archives, by platform and architecture of Node. What else arrives is not even unpacked.
 *
 * The release's own list is https://github.com/temporalio/cli/releases/tag/v1.5.1, checksums.txt. These values are from two
 * independent packagings of that release, which agree. A wrong one stops the download, and the program is built with Go.
 */
const CHECKSUMS: Record<string, string> = {
  'linux x64': 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  'linux arm64': 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  'darwin x64': 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  'darwin arm64': 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
}
const SILENCE_MS = 20_000
const PROGRESS_MS = 30_000
const UNFINISHED = 'unfinished-'

interface Search {
  environment: NodeJS.ProcessEnv
  /** Told of everything that takes more than a moment. */
  report: (line: string) => void
  cacheFolder?: string
  now?: number
  /** Where releases are, and the SHA-256 of their archives: another only in tests. */
  releases?: { address: string; checksums: Record<string, string> }
}

const OFFICIAL = { address: 'https://github.com/temporalio/cli/releases/download', checksums: CHECKSUMS }

/**
 * The path of the Temporal CLI, which contains the development server: from TEMPORAL_CLI_PATH, the PATH, the user's
 * cache, the official download, or a build with Go. The last two are kept in the cache.
 *
 * @throws {Error} one line that says why each way failed.
 */
export async function findTemporal(search: Search): Promise<string> {
  const { environment, cacheFolder = userCache(environment), now = Date.now() } = search
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
    removeAbandoned(cacheFolder, now)
    const folder = mkdtempSync(path.join(cacheFolder, UNFINISHED))
    const remove = () => rmSync(folder, { recursive: true, force: true })
    // Ctrl-C ends us in the middle of it
    process.once('exit', remove)
    try {
      await fetchInto(folder, search)
      renameSync(await requireVersion(path.join(folder, 'temporal')), cached)
      return cached
    } catch (error) {
      problems.push((error as Error).message)
    } finally {
      process.off('exit', remove)
      remove()
    }
  }
  throw new Error(
    `Temporal CLI ${VERSION} was not found: ${problems.join('; ')}. ` +
      `Put \`temporal\` ${VERSION} on the PATH, name it in TEMPORAL_CLI_PATH, install Go, ` +
      'or set TEMPORAL_ADDRESS to a running server.',
  )
}

/** Removes what a process has left that was killed. Another one may be at work, which takes minutes. */
function removeAbandoned(cacheFolder: string, now: number): void {
  for (const name of readdirSync(cacheFolder).filter((each) => each.startsWith(UNFINISHED))) {
    const folder = path.join(cacheFolder, name)
    const { mtimeMs = now } = statSync(folder, { throwIfNoEntry: false }) ?? {}
    if (now - mtimeMs > HOUR_MS) rmSync(folder, { recursive: true, force: true })
  }
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

/**
 * Downloads the official program, whose checksum must be the expected one; gives up after 20 s without a connection or
 * without data.
 */
async function download(folder: string, { report, releases = OFFICIAL }: Search): Promise<void> {
  const { address, checksums } = releases
  const platform = `${process.platform} ${process.arch}`
  const expected = checksums[platform]
  if (expected === undefined) throw new Error(`there is no download for ${platform}`)
  report(`Downloading Temporal CLI ${VERSION} from ${new URL(address).host} (once, about 50 MB) …`)
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const url = `${address}/v${VERSION}/temporal_cli_${VERSION}_${process.platform}_${arch}.tar.gz`
  const archive = path.join(folder, 'archive')
  try {
    const checksum = await fetchFile(url, archive)
    if (checksum !== expected)
      throw new Error(`its SHA-256 is ${checksum}, not ${expected}: it is not the official archive`)
    await run('tar', ['-xzf', archive, '-C', folder])
  } catch (error) {
    throw new Error(`the download failed (${lastLine(error)})`, { cause: error })
  }
}

/** @returns the SHA-256 of what was written to `file`, in hexadecimal. */
async function fetchFile(url: string, file: string): Promise<string> {
  const timeouts = { connect: { timeout: SILENCE_MS }, headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS }
  const dispatcher = new EnvHttpProxyAgent(timeouts)
  try {
    const response = await fetch(url, { dispatcher })
    if (!response.ok || !response.body) throw new Error(`the server answered ${response.status}`)
    await pipeline(response.body, createWriteStream(file))
    const hash = createHash('sha256')
    await pipeline(createReadStream(file), hash)
    return hash.digest('hex')
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
    const installing = run('go', ['install', flags, source], { env: { ...environment, GOBIN: folder } })
    // on SIGINT, it also removes what it has in the folder for temporary files
    const stop = () => installing.child.kill('SIGINT')
    process.once('exit', stop)
    await installing.finally(() => process.off('exit', stop))
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const problem = isMissing ? 'Go is not installed' : `the build with Go failed (${lastLine(error)})`
    throw new Error(problem, { cause: error })
  } finally {
    clearInterval(progress)
  }
}
