import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { EnvHttpProxyAgent, fetch } from 'undici'

const run = promisify(execFile)
const officialAddress = 'https://temporal.download/cli/archive'

interface Source {
  /** An empty folder to work in. */
  folder: string
  version: string
  environment: NodeJS.ProcessEnv
  report: (line: string) => void
  downloadAddress?: string
}

/**
 * Downloads the official program into `folder`.
 *
 * @returns its path.
 * @throws {Error} when there is no connection within 20 s, or nothing arrives for 20 s.
 */
export async function downloadTemporal({
  folder,
  version,
  report,
  downloadAddress,
}: Source): Promise<string> {
  const address = downloadAddress ?? officialAddress
  report(`Downloading Temporal CLI ${version} from ${new URL(address).host} (once, about 50 MB) …`)
  const windows = process.platform === 'win32'
  const platform = windows ? 'windows' : process.platform
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const archive = path.join(folder, 'archive')
  const timeout = 20_000
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout },
    headersTimeout: timeout,
    bodyTimeout: timeout,
  })
  try {
    const response = await fetch(`${address}/v${version}?platform=${platform}&arch=${arch}`, { dispatcher })
    if (!response.ok || !response.body) throw new Error(`the server answered ${response.status}`)
    await pipeline(response.body, createWriteStream(archive))
    // Windows' tar reads zip files too.
    await run('tar', [windows ? '-xf' : '-xzf', archive, '-C', folder])
  } catch (error) {
    throw new Error(`the download failed (${reason(error)})`, { cause: error })
  } finally {
    await dispatcher.destroy()
  }
  return path.join(folder, `temporal${windows ? '.exe' : ''}`)
}

/**
 * Builds the program with Go into `folder`; takes 2 to 4 minutes.
 *
 * @returns its path.
 */
export async function buildTemporal({ folder, version, environment, report }: Source): Promise<string> {
  const started = Date.now()
  const seconds = () => Math.round((Date.now() - started) / 1000)
  const say = () =>
    report(`Building Temporal CLI ${version} with Go (once, about 4 minutes) … ${seconds()} s`)
  const progress = setInterval(say, 30_000)
  const flags = `-ldflags=-s -w -X github.com/temporalio/cli/temporalcli.Version=${version}`
  try {
    await run('go', ['version'], { env: environment })
    say()
    await run('go', ['install', flags, `github.com/temporalio/cli/cmd/temporal@v${version}`], {
      env: { ...environment, GOBIN: folder },
    })
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new Error(missing ? 'Go is not installed' : `the build with Go failed (${reason(error)})`, {
      cause: error,
    })
  } finally {
    clearInterval(progress)
  }
  return path.join(folder, `temporal${process.platform === 'win32' ? '.exe' : ''}`)
}

/** The innermost cause, on one line: that of a failed fetch says only "fetch failed". */
function reason(error: unknown): string {
  const { cause, message, stderr } = error as Error & { stderr?: string }
  if (cause) return reason(cause)
  return (stderr || message).trim().split('\n').at(-1) ?? ''
}
