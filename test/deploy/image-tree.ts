import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'

const root = path.join(import.meta.dirname, '../..')

/** Where the image has the service. */
const HOME = '/service'

/**
 * What the Dockerfile makes, in a folder, without a Docker engine: its stages copy and run as it says, with this machine's
 * Node and npm. What it does outside of the service's folder is left out.
 *
 * @returns the folder of the last stage, which the image has at `/service`, and that of the step before files are removed.
 */
export function makeImageTree(folder: string): {
  tree: string
  megabytes: { before: number; after: number }
} {
  const ignored = readIgnored()
  let stage = ''
  let before = 0
  for (const [instruction, rest] of instructionsOf(readFileSync(path.join(root, 'Dockerfile'), 'utf8'))) {
    if (instruction === 'FROM') {
      const [, name = 'final'] = /^\S+ AS (\w+)$/.exec(rest) ?? []
      stage = path.join(folder, name)
      mkdirSync(stage)
    }
    if (instruction === 'COPY') copy(rest.split(' '))
    if (instruction !== 'RUN' || rest.includes('/var/')) continue
    if (rest.startsWith('rm ')) before = megabytesOf(path.join(stage, 'node_modules'))
    const bin = path.dirname(process.execPath)
    execFileSync('sh', ['-c', rest], {
      cwd: stage,
      env: { HOME: process.env.HOME, PATH: `${bin}:${process.env.PATH}` },
      stdio: 'pipe',
    })
  }
  return { tree: stage, megabytes: { before, after: megabytesOf(path.join(stage, 'node_modules')) } }

  function copy(words: string[]): void {
    const target = path.join(stage, words.at(-1) ?? '')
    const [, from] = /^--from=(\w+)$/.exec(words[0] ?? '') ?? []
    if (from !== undefined) {
      if (words[1] !== HOME) throw new Error(`the Dockerfile copies ${words[1]}`)
      cpSync(path.join(folder, from), target, { recursive: true, verbatimSymlinks: true })
      return
    }
    for (const source of words.slice(0, -1))
      cpSync(path.join(root, source), words.length === 2 ? target : path.join(target, source), {
        recursive: true,
        filter: (file) => !ignored(path.relative(root, file)),
      })
  }
}

/** Each instruction with the rest of its line, lines that continue put together. */
function instructionsOf(dockerfile: string): [instruction: string, rest: string][] {
  const lines = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  return lines.flatMap((line) => {
    const [, instruction, rest] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    return instruction === undefined || rest === undefined ? [] : [[instruction, rest]]
  })
}

/** By `.dockerignore`: the last line that matches a file, or a folder that it is in, decides. */
function readIgnored(): (file: string) => boolean {
  const rules = readFileSync(path.join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ kept: line.startsWith('!'), file: line.replace(/^!/, '') }))
  const isIn = (file: string, folder: string) =>
    folder === '*' || file === folder || file.startsWith(`${folder}/`)
  return (file) => {
    const deciding = rules.findLast((rule) => isIn(file, rule.file))
    // a folder is entered for what is kept in it
    return deciding?.kept === false && !rules.some((rule) => rule.kept && rule.file.startsWith(`${file}/`))
  }
}

function megabytesOf(folder: string): number {
  if (!existsSync(folder)) return 0
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const bytes = files.reduce((sum, file) => sum + statSync(path.join(file.parentPath, file.name)).size, 0)
  return Math.round(bytes / 1e6)
}
