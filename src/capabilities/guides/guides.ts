import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from 'pino'
import type { Guides } from '../../core/http/openapi/page.ts'

export interface Guide {
  name: string
  path: string
  /** From the repository's root. */
  file: string
  /** For those who choose which one to read. */
  about: string
}

export const SEARCH_PATH = '/docs/search'

/** What developers of partners read, in the order in which it is offered. */
const guides: readonly Guide[] = [
  {
    name: 'Integrate',
    path: '/docs/integrate',
    file: 'docs/integrate.md',
    about: 'from a key to production: clients, requests, leads, errors, paging, repeats',
  },
  {
    name: 'Webhooks',
    path: '/docs/webhooks',
    file: 'docs/webhooks.md',
    about: 'set up, verify and certify an endpoint; order, retries, pauses; polling instead',
  },
  {
    name: 'Sandbox',
    path: '/docs/sandbox',
    file: 'docs/sandbox.md',
    about: 'simulate milestones, advance clocks, play whole journeys',
  },
  {
    name: 'TypeScript',
    path: '/docs/typescript',
    file: 'src/clients/typescript/README.md',
    about: 'the client for TypeScript and JavaScript',
  },
  {
    name: 'Python',
    path: '/docs/python',
    file: 'src/clients/python/README.md',
    about: 'the client for Python',
  },
  {
    name: 'Limits',
    path: '/docs/limits',
    file: 'docs/limits.md',
    about: 'every limit, and what is beyond it',
  },
  {
    name: 'Changes',
    path: '/docs/changes',
    file: 'docs/changes.md',
    about: 'what may change within v1, how it is announced, and the changelog',
  },
]

const repository = path.join(import.meta.dirname, '../../..')

/** Those that are there: an image may lack one. */
export const presentGuides = (root = repository): Guide[] =>
  guides.filter(({ file }) => existsSync(path.join(root, file)))

export const readGuide = ({ file }: Guide): string => readFileSync(path.join(repository, file), 'utf8')

/** What other pages link to. Says which guides are missing. */
export function guidesOf(log: Pick<Logger, 'error'>, root = repository): Guides {
  const present = presentGuides(root)
  for (const missing of guides.filter((guide) => !present.includes(guide)))
    log.error(`${missing.file} is missing: ${missing.path} is not served`)
  return { links: present, searchPath: SEARCH_PATH }
}
