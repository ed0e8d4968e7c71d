import { type Fault, faultsIn } from './config/rules.ts'
import { type Config, type Program, programs } from './config/schema.ts'
import {
  connectionFaults,
  flagFaults,
  loadTemporal,
  MalformedAddress,
  MissingAddress,
  type TemporalSettings,
} from './config/temporal.ts'

export type { Config } from './config/schema.ts'
export type { TemporalSettings } from './config/temporal.ts'

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
  const given: Record<string, string | undefined> = { ...defaults, ...withoutEmpty(environment) }
  const values = { ...(given.ENVIRONMENT === 'production' && inProduction), ...given }
  const result = programs[program].safeParse(values)
  const faults = result.success
    ? faultsIn(program, result.data)
    : result.error.issues.map(({ path, code, message }) => {
        const name = String(path[0])
        const isMissing = code !== 'custom' && given[name] === undefined
        return { name, message: isMissing ? 'is not set' : message }
      })
  if (result.success && faults.length === 0) return result.data as Config<Name>
  throw refusalOf(faults)
}

/**
 * Where Temporal is: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the other names of @temporalio/envconfig.
 *
 * @param config says whether the connection may be plain; without it, nothing is refused for that.
 * @throws {ConfigError} one line that says what to change.
 */
export function readTemporal(
  config: Pick<Config<'setup-temporal'>, 'ENVIRONMENT' | 'ALLOW_PLAINTEXT'> | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): TemporalSettings {
  const given = withoutEmpty(environment)
  const malformed = flagFaults(given)
  if (malformed.length > 0) throw refusalOf(malformed)
  const settings = orRefuse(() => loadTemporal(given))
  const unsafe =
    config?.ENVIRONMENT === 'production'
      ? connectionFaults(settings, { allowed: config.ALLOW_PLAINTEXT, environment: given })
      : []
  if (unsafe.length > 0) throw refusalOf(unsafe)
  return settings
}

function withoutEmpty(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value?.trim() ? [[name, value]] : [])),
  )
}

/** All faults in one line. */
function refusalOf(faults: Fault[]): ConfigError {
  const lines = faults.map(({ name, message }) => `${name} ${message}`)
  return new ConfigError(`Configuration: ${[...new Set(lines)].join('; ')}. See docs/settings.md.`)
}

function orRefuse<Value>(load: () => Value): Value {
  try {
    return load()
  } catch (error) {
    if (error instanceof MissingAddress)
      throw refusalOf([{ name: 'TEMPORAL_ADDRESS', message: 'is not set' }])
    if (error instanceof MalformedAddress)
      throw refusalOf([
        {
          name: 'TEMPORAL_ADDRESS',
          message: `${error.message} is not a host with its port, such as temporal.internal:7233`,
        },
      ])
    throw new ConfigError(`Configuration: Temporal’s settings cannot be read: ${(error as Error).message}`)
  }
}

/** The environment with `overrides`, for child processes and for libraries that read variables of their own. */
export function processEnvironment(overrides: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...overrides }
}
