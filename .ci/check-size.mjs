// Prints the size of the service beside its ceilings in sizes.json. The exit code is 1 if a ceiling is exceeded.
// Lines are physical lines of tracked files, comments and blanks included. A ceiling is raised only by a
// decision that the service is to do more.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { staffProgram } from '../src/staff/program.ts'

process.chdir(new URL('..', import.meta.url).pathname)
const read = (file) => readFileSync(file, 'utf8')
const json = (file) => JSON.parse(read(file))
const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  .trim()
  .split('\n')
const files = (pattern, without = /^$/) => tracked.filter((file) => pattern.test(file) && !without.test(file))
const found = (list, pattern) => list.flatMap((file) => read(file).match(pattern) ?? [])
const count = (list, pattern) => found(list, pattern).length
const lines = (list) => count(list, /\n/g)
const verbs = ({ commands }) =>
  commands.length === 0 ? 1 : commands.reduce((sum, each) => sum + verbs(each), 0)

const production = files(
  /^(src|workflows|activities)\/.*\.(ts|cjs|sql|json)$/,
  /^src\/(clients|console\/browser)\//,
)
const client = (pattern) =>
  lines(files(pattern, /\/(tests\/|api\.ts|types\.py|_calls\.py|(package|tsconfig)\.json)/))
const pages = files(/^(README\.md|docs\/.*\.md)$/)
const histories = files(/^test\/workflows\/histories\//)
const { dependencies, devDependencies } = json('package.json')
const sizes = {
  'production TypeScript, lines': lines(production),
  'production TypeScript, files': production.length,
  'console in the browser, lines': lines(files(/^src\/console\/browser\/.*\.(js|css|ts)$/)),
  'TypeScript client, lines': client(/^src\/clients\/(typescript\/(src\/)?)?[^/]*\.ts$/),
  'Python client, lines': client(/^src\/clients\/python\/.*\.(py|ts)$/),
  'listen, lines': lines(files(/^src\/clients\/typescript\/prs\/.*\.ts$/)),
  'tests, lines': lines(files(/^test\/.*\.ts$/)),
  'recorded histories, files': histories.length,
  'recorded histories, lines': lines(histories),
  'words of README and docs': count(pages, /\S+/g),
  decisions: files(/^docs\/decisions\//).length,
  tables: count(files(/^src\/database\/migrations\//), /create table/g),
  settings: count(['docs/settings.md'], /^\| `/gm),
  metrics: new Set(found(files(/^(src|activities)\/.*\.ts$/), /'(referrals|http_\w+)_\w+'/g)).size,
  alerts: count(files(/^docs\/deploy\/prometheus\//), /- alert:/g),
  'staff verbs': verbs(staffProgram(() => () => undefined, {})),
  'operations of the API': Object.values(json('docs/openapi.json').paths).flatMap(Object.keys).length,
  dependencies: Object.keys(dependencies).length,
  'dependencies of development': Object.keys(devDependencies).length,
}

const ceilings = json('.ci/sizes.json')
const tooLarge = Object.entries(sizes).filter(([name, size]) => !(size <= ceilings[name]))
for (const [name, size] of Object.entries(sizes))
  console.log(`${String(size).padStart(7)} of ${String(ceilings[name]).padStart(6)}  ${name}`)
for (const [name, size] of tooLarge)
  console.error(`${name}: ${size} is above the ceiling of ${ceilings[name]}.`)
process.exitCode = tooLarge.length > 0 ? 1 : 0
