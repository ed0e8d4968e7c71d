import { closestMatch } from 'leven'

/** Longer names are nobody’s typing error. */
const MOST_CHARACTERS = 64
/** One character in three may differ, or two of a short name. */
const mostDifferences = ({ length }: string) => (length < 4 ? 0 : Math.max(2, Math.floor(length / 3)))

/** `firstName`, `first-name` and `First_Name` are the same name, written in another way. */
const plain = (name: string) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

/** Of `names` the one that `written` was probably meant to be; `undefined` if none is similar. */
export function nearest(written: string, names: readonly string[]): string | undefined {
  if (written.length > MOST_CHARACTERS) return undefined
  const byPlain = new Map(names.map((name) => [plain(name), name]))
  const sought = plain(written)
  const known = [...byPlain.keys()]
  // both of two names that begin like it may be meant
  if (sought.length > 2 && known.filter((name) => name.startsWith(sought)).length > 1) return undefined
  const [ending, ...others] = known.filter((name) => sought !== '' && name.endsWith(sought))
  const found =
    ending !== undefined && others.length === 0
      ? ending
      : closestMatch(sought, known, { maxDistance: mostDifferences(sought) })
  return found === undefined ? undefined : byPlain.get(found)
}
