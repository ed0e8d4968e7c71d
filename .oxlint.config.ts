import { defineConfig } from 'oxlint'

/** Programs: scripts of package.json start them, and no file imports them. */
const entryPoints = ['server', 'worker', 'start', 'staff', 'migrate', 'setup-temporal', 'write-docs']

/** The rooms of src. A room may import rooms of its own line and of lines below; of lines above, only pure files and types. */
const house = [
  ['privacy', 'sandbox'],
  ['leads'],
  ['deliveries'],
  ['endpoints'],
  ['partners'],
  ['webhooks', 'seal', 'audit', 'http', 'database', 'temporal', 'observe'],
  ['config', 'values'],
]

/** Files that list what rooms bring: entities, and commands of the program staff. */
const listsOfRooms = ['src/database/orm.ts', 'src/*/staff.ts']

/** Decisions without a connection, some of which workflows share. */
const pure = [
  'values',
  'deliveries/{attempt-decision,delivery-states,outcome-decision,retry-schedule}',
  'endpoints/{certification-checks,endpoint-state}',
  'leads/{event-payloads,milestones,reasons,recording-decision,referral-state,score-dates}',
  'sandbox/{lead-clock,scenarios}',
  'temporal/names',
]

/** `room/{one,other}` as `room/one` and `room/other`: import patterns know no braces. */
const each = (paths: string[]) =>
  paths.flatMap((path) => {
    const [, room = '', files] = /^([^{]*)(?:\{(.*)\})?$/.exec(path) ?? []
    return files === undefined ? [room] : files.split(',').map((file) => room + file)
  })

const everywhere = [
  {
    regex: String.raw`^(\./|(\.\./)+(src/)?)(${entryPoints.join('|')})\.ts$`,
    message: 'An entry point is started, never imported.',
  },
  { group: ['**/test/**'], message: 'Tests import the service, not the other way round.' },
]
const withoutProcess = {
  group: ['process', 'node:process'],
  message: 'Use the global process. Only src/config.ts reads its environment.',
}
const withoutWorker = {
  group: ['@temporalio/worker'],
  message: 'Only what runs the worker loads it.',
  allowTypeImports: true,
}
const only = (allowed: string[], message: string) => ({
  group: ['**', ...allowed.map((path) => `!${path}`)],
  message,
  allowTypeImports: true,
})
const pureFiles = each(pure).map((path) => `**/${path.split('/').at(-1)}.ts`)

/** Imports point down. */
const rooms = house.flatMap((line, level) =>
  line.map((room) => {
    const above = house.slice(0, level).flat()
    const group = [
      ...above.flatMap((name) => [`**/${name}/*`, `**/${name}.ts`]),
      ...each(pure).map((path) => `!**/${path}.ts`),
    ]
    const up = { group, message: 'A room imports those below it.', allowTypeImports: true }
    return {
      files: [`src/${room}.ts`, `src/${room}/**/*.ts`],
      excludeFiles: listsOfRooms,
      rules: restrict(...everywhere, withoutProcess, withoutWorker, ...(level > 0 ? [up] : [])),
    }
  }),
)

function restrict(...patterns: object[]) {
  const rule: ['error', { patterns: object[] }] = ['error', { patterns }]
  return { 'no-restricted-imports': rule }
}

const unsafeAllowed = {
  'typescript/no-unsafe-argument': 'off',
  'typescript/no-unsafe-assignment': 'off',
  'typescript/no-unsafe-call': 'off',
  'typescript/no-unsafe-member-access': 'off',
  'typescript/no-unsafe-return': 'off',
} as const

export default defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'node', 'promise', 'jest'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  // JavaScript without types, because it runs on whatever Node a machine has.
  // docs/receiver.mjs is an example for others
  ignorePatterns: ['.data/', 'coverage/', 'src/clients/*/dist/', 'src/preload.cjs', '.ci/', 'docs/'],
  rules: {
    'node/no-process-env': 'error',
    'no-console': 'error',
    'unicorn/no-process-exit': 'error',
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'import/no-duplicates': 'error',
    'import/first': 'error',
    eqeqeq: 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    'no-else-return': 'error',
    'no-param-reassign': 'error',
    'no-throw-literal': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/return-await': ['error', 'in-try-catch'],
    'typescript/only-throw-error': 'error',
    'typescript/prefer-promise-reject-errors': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/no-deprecated': 'error',
    'typescript/use-unknown-in-catch-callback-variable': 'error',
    // JSON and query results are typed where they enter, by assertion.
    'typescript/no-unsafe-type-assertion': 'off',
    // Loops over leads, attempts and pages run one step after the other on purpose.
    'no-await-in-loop': 'off',
    // Promises answer a few of Node's callback interfaces.
    'promise/always-return': 'off',
    'promise/no-callback-in-promise': 'off',
    // Fastify distinguishes async plugins and hooks from callback ones.
    'require-await': 'off',
    // What these rules forbid is easier to read.
    'oxc/no-map-spread': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/prefer-set-has': 'off',
  },
  overrides: [
    {
      files: ['{src,workflows,activities}/**/*.ts'],
      rules: restrict(...everywhere, withoutProcess, withoutWorker),
    },
    ...rooms,
    {
      files: pure.map((path) => `src/${path}.ts`),
      rules: restrict(...everywhere, only(pureFiles, 'A pure file imports pure files.')),
    },
    {
      files: ['workflows/*.ts'],
      rules: restrict(
        ...everywhere,
        only(
          ['./*.ts', '@temporalio/common', '@temporalio/workflow', '**/search-attributes.ts', ...pureFiles],
          'A workflow imports pure files: no Node, no SQL.',
        ),
      ),
    },
    {
      files: entryPoints.map((name) => `src/${name}.ts`),
      rules: { 'no-console': 'off', 'unicorn/no-process-exit': 'off' },
    },
    {
      files: [
        'src/{worker,run-worker}.ts',
        'src/observe/{worker-metrics,log}.ts',
        'src/temporal/workflow-bundle.ts',
      ],
      rules: restrict(...everywhere, withoutProcess),
    },
    {
      // The browser gets these files as they are: they import each other, and the packages in the page's import map.
      files: ['src/console/browser/**/*.js'],
      rules: {
        ...restrict({
          group: ['**', '!./*.js', '!../*.js', '!./views/*.js', '!preact', '!preact/hooks', '!htm'],
          message: 'src/console/browser may import only its own files, Preact and htm.',
        }),
        // Answers of the API are read as the JSON they are.
        ...unsafeAllowed,
      },
    },
    { files: ['src/config.ts'], rules: { 'node/no-process-env': 'off' } },
    { files: ['src/clients/typescript/prs/main.ts'], rules: { 'node/no-process-env': 'off' } },
    // It ends entry points that cannot start.
    { files: ['src/fail.ts'], rules: { 'unicorn/no-process-exit': 'off' } },
    { files: ['test/support/**/*.ts'], rules: { 'no-console': 'off' } },
    {
      files: ['test/**/*.ts'],
      rules: {
        ...restrict(...everywhere.slice(0, 1)),
        'node/no-process-env': 'off',
        'typescript/no-non-null-assertion': 'off',
        // Answers are read as the JSON they are; an assertion on them is the check.
        ...unsafeAllowed,
      },
    },
    { files: ['test/support/{global-*,runner}.ts', '.*.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
})
