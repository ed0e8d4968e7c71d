/** Words that questions have and answers need not. */
const fillers = new Set(
  'a an and are as at be by can do does for from has have how i if in is it me my of on or our should so that the their them there they this to was we what when where which who why will with you your'.split(
    ' ',
  ),
)

/** From `addresses`: `address`; from `retries`: `retry`. */
function singular(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (word.endsWith('sses') || word.endsWith('xes') || word.endsWith('ches')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

const endings = ['ying', 'ied', 'ing', 'ed', 'y', 'e']

/**
 * The beginning that the forms of an English word share, which is all that a search needs: `verif` of `verify`,
 * `verified` and `verifying`. `undefined` for a word that says nothing.
 */
export function stem(word: string): string | undefined {
  const lower = word.toLowerCase()
  if (fillers.has(lower)) return undefined
  const one = singular(lower)
  const ending = endings.find((each) => one.endsWith(each) && one.length - each.length >= 3)
  return ending === undefined ? one : one.slice(0, -ending.length)
}
