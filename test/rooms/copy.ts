import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

export const root = path.join(import.meta.dirname, '../..')
const sources = ['src', 'workflows', 'activities']
const copied = [...sources, 'test', 'docs', 'package.json', 'tsconfig.json']

/** What can be taken out, beside the folders of its name: entry points that only it has. */
export const removable: Record<string, readonly string[]> = {
  sandbox: [],
  'self-service': [],
  erasure: [],
  closing: [],
  retention: [],
  restore: [],
  audit: [],
  encryption: [],
  access: [],
  requests: [],
  guides: [],
  console: [],
  embedded: ['src/start.ts', 'src/temporal-command.ts'],
}

/** Files with a line for each of them. No other file may import one. */
const lists = [
  'src/app.ts',
  'src/server.ts',
  'src/worker.ts',
  'src/worker-activities.ts',
  'src/worker-jobs.ts',
  'src/staff.ts',
  'src/staff/program.ts',
  'src/migrate.ts',
  'src/prepare.ts',
  'src/start.ts',
  'src/tables.ts',
  'src/retained.ts',
  'workflows/index.ts',
  'workflows/referral.ts',
  'activities/index.ts',
  'src/clients/typescript/prs/main.ts',
  'test/api/api.ts',
]

/** A copy of the source, in a folder of its own. */
export function copyOfSource(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'rooms-'))
  for (const name of copied) cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  const config = path.join(folder, 'tsconfig.json')
  const { compilerOptions } = JSON.parse(readFileSync(config, 'utf8')) as { compilerOptions: object }
  writeFileSync(config, JSON.stringify({ compilerOptions, include: sources }))
  return folder
}

/** Takes a capability out: its folders, its entry points, and its lines in the lists. */
export function takeOut(folder: string, name: string): void {
  const gone = [...foldersOf(folder, name), ...(removable[name] ?? [])]
  for (const each of gone) rmSync(path.join(folder, each), { recursive: true })
  for (const list of lists.filter((file) => existsSync(path.join(folder, file)))) {
    const file = path.join(folder, list)
    writeFileSync(
      file,
      withoutLines(readFileSync(file, 'utf8'), (target) => !existsSync(path.resolve(file, '..', target))),
    )
  }
}

function foldersOf(folder: string, name: string): string[] {
  const rooms = [
    'src',
    'src/capabilities',
    'src/clients/typescript/prs',
    'workflows',
    'activities',
    'test',
    'test/support',
  ]
  const capabilities = path.join(folder, 'src/capabilities')
  return [...rooms, ...readdirSync(capabilities).map((room) => `src/capabilities/${room}`)]
    .map((parent) => `${parent}/${name}`)
    .filter((each) => existsSync(path.join(folder, each)))
}

/** The text without imports of files that are gone, and without each line with a name that they brought. */
function withoutLines(text: string, isGone: (target: string) => boolean): string {
  const names: string[] = []
  const rest = text.replaceAll(
    /^(?:import|export)(?: type)? \{([^}]*)\} from '(\.[^']*)'\n/gm,
    (statement, imported: string, target: string) => {
      if (!isGone(target)) return statement
      names.push(
        ...imported.split(',').map((one) =>
          one
            .replace(/^\s*(?:type )?/, '')
            .replace(/^.* as /, '')
            .trim(),
        ),
      )
      return ''
    },
  )
  const isLoadedLater = (line: string) => isGone(/import\('(\.[^']*)'\)/.exec(line)?.[1] ?? '.')
  const isOfOne = (line: string) => names.some((name) => name !== '' && line.match(/[\w$]+/g)?.includes(name))
  return rest
    .split('\n')
    .filter((line) => !isOfOne(line) && !isLoadedLater(line))
    .join('\n')
}

/** Removes each test that imports a file which is gone, and what tests share that does. */
export function dropTests(folder: string): void {
  const files = readdirSync(path.join(folder, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.join(folder, 'test', name))
  const lost = files.filter((file) => importsOf(file).some((target) => !existsSync(target)))
  for (const file of lost) rmSync(file)
  // what imported one of these
  if (lost.length > 0) dropTests(folder)
}

const importsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from |^import )'(\.[^']*)'/gm)].map(([, target = '']) =>
    path.resolve(file, '..', target),
  )
