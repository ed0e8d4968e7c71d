import path from 'node:path'

/** What a room is made of. Files beside these folders are its `own`. */
const parts = [
  'decisions',
  'tables',
  'statements',
  'webhooks',
  'workflows',
  'routes',
  'commands',
  'own',
] as const
type Part = (typeof parts)[number]

interface Place {
  /** `core/leads`, `capabilities/sandbox`; otherwise the folder: `workflows`, `src/staff`, or a file of `src`. */
  room: string
  part: Part
}

interface Row {
  /** Parts of the rooms of the core, and of the file's own room. */
  parts: readonly Part[]
  /** Rooms of which every part but routes and commands may be imported. */
  rooms?: readonly string[]
  /** Places outside the rooms, as prefixes of paths from the repository's root. */
  also?: readonly string[]
  /** Where types may be imported from. */
  types?: readonly string[]
  /** The packages, if they are limited too. */
  packages?: readonly string[]
}

const values = 'src/core/values/'
const messages = ['workflows/messages.ts', 'workflows/arguments.ts', 'workflows/payload-converter.ts']
const programs = ['activities/', 'workflows/']
const data: Part[] = ['decisions', 'tables', 'statements']
const outgoing: Part[] = [...data, 'webhooks', 'workflows']

/** What each part of a room may import. */
const partTable: Record<Part, Row> = {
  decisions: { parts: ['decisions'], also: [values], packages: [] },
  tables: { parts: ['decisions', 'tables'], also: [values, 'src/core/database/columns.ts'] },
  statements: {
    parts: data,
    rooms: ['core/database', 'core/sealing', 'core/record'],
    also: [values, 'src/tables.ts'],
  },
  webhooks: { parts: ['decisions', 'webhooks'], also: [values] },
  workflows: {
    parts: [...data, 'workflows', 'own'],
    also: [values, ...messages],
    types: [...programs, 'src/metrics/'],
  },
  routes: { parts: [...outgoing, 'routes', 'own'], also: [values], types: ['src/metrics/'] },
  commands: { parts: [...outgoing, 'commands', 'own'], also: [values, 'src/staff/', ...messages] },
  own: {
    parts: [...outgoing, 'own'],
    also: [values, 'src/tables.ts', ...messages],
    types: ['src/metrics/', 'src/config.ts'],
  },
}

/** The command of the TypeScript package. */
const PRS = 'clients/typescript/prs'

/** What each folder outside the rooms may import. */
const folderTable: Record<string, Row> = {
  'core/values': { parts: [], also: [values], packages: ['ipaddr.js', 'node:net', 'uuid'] },
  'src/config': { parts: ['decisions'], also: [values, 'src/config/'] },
  'src/metrics': {
    parts: data,
    also: [values, 'src/metrics/'],
    rooms: ['core/database'],
    types: ['src/config/'],
  },
  'src/staff': { parts: [...outgoing, 'own'], also: [values, 'src/staff/'], types: ['src/config.ts'] },
  'src/console': { parts: ['decisions', 'routes', 'own'], also: [values, 'src/console/'] },
  'src/embedded': {
    parts: [...outgoing, 'own'],
    also: [values, 'src/embedded/', 'src/config.ts', 'src/config/'],
  },
  [PRS]: {
    parts: [],
    also: ['src/clients/typescript/'],
    packages: ['crypto', 'fs', 'os', 'path', 'util'].map((name) => `node:${name}`),
  },
  // packages of their own, for lenders
  'src/clients': { parts: [], also: ['src/clients/'] },
  workflows: {
    parts: ['decisions'],
    also: [values, 'workflows/'],
    types: ['activities/'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  activities: { parts: [...data, 'webhooks', 'own'], also: [values, 'activities/'], types: ['src/metrics/'] },
}

/** The lists, in which a capability has a line or two: nothing else knows all of them. */
const lists = ['src/tables.ts', 'src/staff/program.ts', 'activities/index.ts', 'workflows/index.ts']

/** Where a file is; `undefined` for what is in no room and has no row: entry points, tests, tools. */
function placeOf(file: string): Place | undefined {
  const [top = '', second = '', third = '', ...rest] = file.split('/')
  if (top === 'workflows' || top === 'activities') return { room: top, part: 'own' }
  if (top !== 'src' || third === '') return undefined
  if (file.startsWith(`src/${PRS}/`)) return { room: PRS, part: 'own' }
  if (second !== 'core' && second !== 'capabilities') return { room: `src/${second}`, part: 'own' }
  // what a room offers to the API is of its routes
  if (rest.at(-1) === 'api.ts') return { room: `${second}/${third}`, part: 'routes' }
  return { room: `${second}/${third}`, part: parts.find((part) => rest.slice(0, -1).includes(part)) ?? 'own' }
}

/** Why a file may not import another one, both as paths from the repository's root; `undefined` if it may. */
function refusal(file: string, target: string, isType: boolean): string | undefined {
  const from = placeOf(file)
  if (from === undefined || lists.includes(file)) return undefined
  const row = folderTable[from.room] ?? partTable[from.part]
  const begins = (prefix: string) => target.startsWith(prefix)
  if (row.also?.some(begins) || (isType && row.types?.some(begins))) return undefined
  const to = placeOf(target)
  if (to === undefined || !isRoom(to.room)) return `${nameOf(from)} may not import from there`
  const isOwn = to.room === from.room
  if (!isOwn && isCapability(to.room)) {
    // what a capability does with another one is in a folder of that one's name, and goes with either
    if (file.startsWith(`src/${from.room}/${path.basename(to.room)}/`)) return undefined
    if (from.room !== 'workflows' && from.room !== 'activities')
      return `${from.room} may not know of ${to.room}: only a folder of its name there may`
  }
  if (row.parts.includes(to.part)) return undefined
  if (row.rooms?.includes(to.room) && to.part !== 'routes' && to.part !== 'commands') return undefined
  return `${nameOf(from)} may not import ${to.part === 'own' ? `what ${to.room} does itself` : to.part}`
}

/** Why a file may not import a package; `undefined` if it may. */
function packageRefusal(file: string, name: string): string | undefined {
  const from = placeOf(file)
  const row = from && (folderTable[from.room] ?? partTable[from.part])
  if (from === undefined || row?.packages === undefined) return undefined
  return row.packages.includes(name) ? undefined : `${nameOf(from)} may not import packages, or only its own`
}

const isRoom = (room: string) => /^(?:core|capabilities)\//.test(room)
const isCapability = (room: string) => room.startsWith('capabilities/')
const nameOf = ({ room, part }: Place) => (part === 'own' ? room : `${part} of ${room}`)

interface Import {
  source: { value: unknown } | null
  importKind?: string
}

interface Context {
  filename: string
  cwd: string
  report: (fault: { node: unknown; message: string }) => void
}

/** The rule that keeps the rooms apart. */
const plugin = {
  meta: { name: 'rooms' },
  rules: {
    imports: {
      create(context: Context) {
        const root = import.meta.dirname
        const file = path.relative(root, context.filename)
        const check = (node: Import) => {
          const name = node.source?.value
          if (typeof name !== 'string') return
          const target = path.join(path.dirname(file), name)
          const reason = name.startsWith('.')
            ? refusal(file, target, node.importKind === 'type')
            : packageRefusal(file, name)
          if (reason !== undefined)
            context.report({ node, message: `${reason}. The tables are in .oxlint.rooms.ts.` })
        }
        return {
          ImportDeclaration: check,
          ExportNamedDeclaration: check,
          ExportAllDeclaration: check,
          ImportExpression: check,
        }
      },
    },
  },
}
export default plugin
