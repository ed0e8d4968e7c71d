import { closestMatch } from 'leven'
import { programs } from './schema.ts'
import { temporalNames } from './temporal.ts'

/** A short name may be close to a variable of another program. */
const LONG = 7

const plain = (name: string) => name.toUpperCase().replaceAll('_', '')
const names = [...Object.values(programs).flatMap(({ shape }) => Object.keys(shape)), ...temporalNames]
const byPlain = new Map(names.map((name) => [plain(name), name]))

/** A line for each variable that is no setting but differs from one by its case, its underscores or one character. */
export function misspeltSettings(environment: NodeJS.ProcessEnv): string[] {
  return Object.keys(environment).flatMap((given) => {
    const meant = meantBy(given)
    return meant === undefined ? [] : [`${given} is not a setting and is ignored. Did you mean ${meant}?`]
  })
}

/** The variable that is set and was probably meant to be the setting `name`. */
export function misspellingOf(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  return Object.keys(environment).find((given) => environment[given] !== '' && meantBy(given) === name)
}

function meantBy(given: string): string | undefined {
  return names.includes(given) ? undefined : byPlain.get(nearestTo(plain(given)) ?? '')
}

function nearestTo(given: string): string | undefined {
  if (byPlain.has(given)) return given
  if (given.length < LONG) return undefined
  return closestMatch(given, [...byPlain.keys()], { maxDistance: 1 })
}
