import MiniSearch from 'minisearch'
import { stem } from './words.ts'

/** What can be found: a section of a guide, a call or an error. */
export interface Entry {
  path: string
  /** The page that it is on. */
  page: string
  title: string
  text: string
  /** Commands and programs. */
  code?: string
  /** Of a call or an error: who searches for one of them gets it first. */
  names?: readonly string[]
  /** Below 1 for what answers a question less well than the rest. */
  weight: number
}

export interface Hit extends Entry {
  /** Stems of the words that were found. */
  stems: string[]
}

export const LONGEST_QUERY = 200
const MOST_WORDS = 12
const MOST_HITS = 10
/** More than any other rank. */
const NAMED = 1e9

/** Searches in memory: a query is cut to a size that takes a millisecond. */
export function createSearch(entries: readonly Entry[]): (query: string) => Hit[] {
  const index = new MiniSearch<{ id: number } & Entry>({
    fields: ['title', 'page', 'text', 'code'],
    processTerm: (word) => stem(word),
    searchOptions: {
      boost: { title: 3, page: 1.5, code: 0.3 },
      prefix: (term) => term.length >= 4,
      // of a longer word, one letter may be wrong
      fuzzy: (term) => (term.length >= 5 ? 1 : false),
      weights: { fuzzy: 0.2, prefix: 0.5 },
    },
  })
  index.addAll(entries.map((entry, id) => ({ id, ...entry })))
  return (query) => {
    const words = query.slice(0, LONGEST_QUERY).match(/[\p{L}\p{N}]+/gu) ?? []
    const asked = [...new Set(words.slice(0, MOST_WORDS))]
    return index
      .search(asked.join(' '))
      .flatMap(({ id, score, terms, queryTerms }) => {
        const entry = entries[id as number]
        if (entry === undefined) return []
        const isNamed = entry.names?.some((name) => name.toLowerCase() === query.trim().toLowerCase())
        // what has more of the words comes first
        const rank = (isNamed === true ? NAMED : 0) + score * entry.weight * queryTerms.length ** 2
        return [{ ...entry, stems: terms, rank }]
      })
      .toSorted((one, other) => other.rank - one.rank)
      .slice(0, MOST_HITS)
  }
}
