import { faultsIn } from './config/rules.ts'
import { type Config, type Program, programs } from './config/schema.ts'

export { misspeltSettings } from './config/misspelt.ts'
export type { Config } from './config/schema.ts'

/** A wrong or missing setting; `message` is one line that says what to do. */
export class ConfigError extends Error {}

/** Defaults of production only. */
const inProduction = { RATE_LIMIT: '600' }

/**
 * The configuration of `program`, from `environment` over `defaults`. An empty variable counts as unset, because compose
 * files and CI systems pass those. Variables that the program does not read are ignored.
 *
 * @throws {ConfigError} one line that names every faulty variable and what it needs; no secret is repeated.
 */
export function readConfig<Name extends Program>(
  program: Name,
  defaults: Record<string, string> = {},
  environment: NodeJS.ProcessEnv = process.env,
): Config<Name> {
  const set = Object.entries(environment).filter(([, value]) => value !== '')
  const given: Record<string, string | undefined> = { ...defaults, ...Object.fromEntries(set) }
  const values = { ...(given.ENVIRONMENT === 'production' && inProduction), ...given }
  const result = programs[program].safeParse(values)
  const issues = result.success
    ? faultsIn(program, result.data)
    : result.error.issues.map(({ path, code, message }) => {
        const name = String(path[0])
        const isMissing = code !== 'custom' && given[name] === undefined
        return { name, message: isMissing ? 'is not set' : message }
      })
  if (result.success && issues.length === 0) return result.data as Config<Name>
  const faults = new Set(issues.map(({ name, message }) => `${name} ${message}`))
  throw new ConfigError(`Configuration: ${[...faults].join('; ')}. See docs/settings.md.`)
}

/** The environment with `overrides`, for child processes and for libraries that read variables of their own. */
export function processEnvironment(overrides: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...overrides }
}
