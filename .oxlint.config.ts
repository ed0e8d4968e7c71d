import { defineConfig } from 'oxlint'

/** Programs that scripts of package.json start. No file imports them. */
const entryPoints = [
  'server',
  'worker',
  'start',
  'prepare',
  'staff',
  'migrate',
  'setup-temporal',
  'temporal-command',
  'write-docs',
]

const everywhere = [
  {
    regex: String.raw`^(\./|(\.\./)+(src/)?)(${entryPoints.join('|')})\.ts$`,
    message: 'An entry point is started, never imported.',
  },
  {
    regex: String.raw`(^\./|[^./]/)\.\./|^/|^file:`,
    message: 'Import by the shortest relative path, so that the import table can be read from it.',
  },
]
const withoutTests = {
  regex: String.raw`^(\.\./)+test/`,
  message: 'Tests import the service, not the other way round.',
}
const withoutProcess = {
  regex: '^(node:)?process$',
  message: 'Use the global process. Only src/config.ts reads its environment.',
}
const withoutWorker = {
  regex: '^@temporalio/worker',
  message:
    'Only src/worker.ts, src/run-worker.ts, its requirements, its interceptors and its bundle (and tests) import the worker.',
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
  jsPlugins: ['./.oxlint.patterns.ts'],
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
    // A few of Node's callback interfaces are answered from promises.
    'promise/always-return': 'off',
    'promise/no-callback-in-promise': 'off',
    // Fastify distinguishes async plugins and hooks from callback ones.
    'require-await': 'off',
    // Taste: what these forbid is easier to read.
    'oxc/no-map-spread': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/prefer-set-has': 'off',
  },
  overrides: [
    {
      files: ['{src,workflows,activities}/**/*.ts'],
      rules: {
        'no-restricted-imports': ['error', { patterns: [...everywhere, withoutProcess, withoutWorker] }],
      },
    },
    {
      files: entryPoints.map((name) => `src/${name}.ts`),
      rules: {
        'no-restricted-imports': [
          'error',
          { patterns: [...everywhere, withoutProcess, withoutWorker, withoutTests] },
        ],
        'no-console': 'off',
        'unicorn/no-process-exit': 'off',
      },
    },
    {
      files: [
        'worker',
        'run-worker',
        'worker-requirements',
        'worker-activities',
        'observe/worker-metrics',
        'observe/log',
        'temporal/outage',
        'temporal/workflow-bundle',
        'temporal/worker-options',
      ].map((name) => `src/${name}.ts`),
      rules: {
        'no-restricted-imports': ['error', { patterns: [...everywhere, withoutProcess, withoutTests] }],
      },
    },
    {
      // The browser gets these files as they are: they import each other, and nothing from a package.
      files: ['src/console/browser/**/*.js'],
      rules: {
        'no-restricted-imports': [
          'error',
          {
            patterns: [
              {
                regex: String.raw`^(?!\.{1,2}/(?:views/)?[a-z-]+\.js$)`,
                message: 'src/console/browser may import only its own files.',
              },
            ],
          },
        ],
        // Answers of the API are read as the JSON they are.
        ...unsafeAllowed,
      },
    },
    {
      // They meet what partners, borrowers, endpoints and operators write.
      files: ['{src,workflows,activities}/**/*.{ts,js}'],
      rules: { 'patterns/linear': 'error', 'patterns/literal': 'error' },
    },
    {
      files: ['src/config.ts'],
      rules: {
        'node/no-process-env': 'off',
        'no-restricted-imports': ['error', { patterns: [...everywhere, withoutWorker] }],
      },
    },
    { files: ['src/clients/typescript/prs/main.ts'], rules: { 'node/no-process-env': 'off' } },
    // It ends entry points that cannot start.
    { files: ['src/fail.ts'], rules: { 'unicorn/no-process-exit': 'off' } },
    { files: ['test/support/**/*.ts'], rules: { 'no-console': 'off' } },
    {
      files: ['test/**/*.ts'],
      rules: {
        'no-restricted-imports': ['error', { patterns: everywhere }],
        'node/no-process-env': 'off',
        'typescript/no-non-null-assertion': 'off',
        // Answers are read as the JSON they are; an assertion on them is the check.
        ...unsafeAllowed,
      },
    },
    { files: ['test/support/{global-*,runner}.ts', '.*.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
})
