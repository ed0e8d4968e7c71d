/** Characters of a name in a mail; longer ones are cut. */
const MOST_CHARACTERS = 60
/** Digits of a name, apart from letters; with more, it may be a telephone number, of which mail programs make a link. */
const MOST_DIGITS = 4

const BETWEEN_LETTERS = /[^\p{L}\p{M}]+/gu
const DIGITS = /\p{N}+/gu
/** Also a dot of domains; NFKC makes the others one of the two. */
const IDEOGRAPHIC_DOT = '。'
/** Without width or that turn the direction of text: with one of them inside, a word is not what it seems to be. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
/** An email address, a scheme, markup, a path of Windows, or a domain: a dot before two characters or more. */
const LINK = /[@<>\\]|\/\/|^\p{L}+:|^www\.|[^\s.]\.[^\s.]{2}/u
/** What no name has. */
const OTHERS = /[^\p{L}\p{M}\p{N}'’·・.,& -]/gu
/** One that joins nothing. */
const LOOSE_HYPHEN = /(?<![\p{L}\p{M}\p{N}])-|-(?![\p{L}\p{N}])/gu

/**
 * Text of a partner as a mail may contain it: a name, of which no mail program makes a link, whatever the partner wrote.
 * Words that are a URL, a domain or an email address are left out; what other words have beside letters, digits and the
 * signs of names becomes a space.
 *
 * @param fallback what to write if nothing is left.
 */
export function nameInMail(text: string, fallback: string): string {
  const words = text
    .toWellFormed()
    .normalize('NFKC')
    .replaceAll(INVISIBLE, '')
    .replaceAll(IDEOGRAPHIC_DOT, '.')
    .split(/[\s\p{C}\p{Z}]+/u)
    .filter((word) => !LINK.test(word))
  const spaced = words
    .join(' ')
    .replaceAll(OTHERS, ' ')
    // initials such as J.R.
    .replaceAll(/\.(?=[^\s.])/gu, '. ')
    .replaceAll(/\.{2,}/gu, '.')
  const cut = Array.from(spaced.replaceAll(/\s+/gu, ' ').trim()).slice(0, MOST_CHARACTERS).join('')
  const name = withoutTelephones(cut).replaceAll(LOOSE_HYPHEN, ' ').replaceAll(/\s+/gu, ' ').trim()
  return /\p{L}/u.test(name) ? name : fallback
}

/** Each stretch between letters is read once. Digits that adjoin a letter belong to a word, such as `Ada42`. */
function withoutTelephones(text: string): string {
  return text.replaceAll(BETWEEN_LETTERS, (stretch, start: number) => {
    const follows = start > 0
    const precedes = start + stretch.length < text.length
    const numbers = [...stretch.matchAll(DIGITS)]
      .map(({ 0: digits, index }) => ({ digits, index, end: index + digits.length }))
      .filter(({ index, end }) => !(follows && index === 0) && !(precedes && end === stretch.length))
    const [first, last] = [numbers[0], numbers.at(-1)]
    const digits = Array.from(numbers.map((number) => number.digits).join('')).length
    if (first === undefined || last === undefined || digits <= MOST_DIGITS) return stretch
    return `${stretch.slice(0, first.index)} ${stretch.slice(last.end)}`
  })
}
