/** Characters of a name in a mail; longer ones are cut. */
const MOST_CHARACTERS = 60
/** Five digits or more, apart from letters: it may be a telephone number, of which mail programs make a link. */
const TELEPHONE = /(?<![\p{L}\p{M}\p{N}])\p{N}(?:[^\p{L}\p{M}]*\p{N}){4,}(?![\p{L}\p{M}\p{N}])/gu

/** Also a dot of domains; NFKC makes the others one of the two. */
const IDEOGRAPHIC_DOT = '。'
/** Without width or that turn the direction of text: with one of them inside, a word is not what it seems to be. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
/** An email address, a scheme, markup, a path of Windows, or a domain: a dot before two characters or more. */
const LINK = /[@<>\\]|\/\/|^\p{L}+:|^www\.|[^\s.]\.[^\s.]{2}/u
/** What no name has. */
const OTHERS = /[^\p{L}\p{M}\p{N}'’·・.,& -]/gu
/** Hyphens that join nothing. */
const LOOSE_HYPHENS = /(?<![\p{L}\p{M}\p{N}])-+|-+(?![\p{L}\p{N}])/gu

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
  const name = cut.replaceAll(TELEPHONE, ' ').replaceAll(LOOSE_HYPHENS, ' ').replaceAll(/\s+/gu, ' ').trim()
  return /\p{L}/u.test(name) ? name : fallback
}
