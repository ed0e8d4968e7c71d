import type { Environment } from '../../core/values/environment.ts'
import { ERRORS_PATH, errorHelp } from '../../core/http/error-help.ts'
import { errorCatalogue, errorCodesOf } from '../../core/http/errors.ts'
import { REFERENCE } from '../../core/http/openapi/page.ts'
import type { Guide } from './guides.ts'
import type { Section } from './rendering.ts'
import type { Entry } from './searching.ts'

interface Operation {
  summary?: string
  description?: string
  tags?: string[]
}

export const entriesOfGuide = ({ name, path }: Guide, sections: readonly Section[]): Entry[] =>
  sections.map(({ title, anchor, text, code }) => ({
    path: anchor === '' ? path : `${path}#${anchor}`,
    page: name,
    title,
    text,
    code,
    // it names everything, and explains nothing
    weight: title === 'Changelog' ? 0.3 : 1,
  }))

/** The calls, where the reference shows them. */
export const entriesOfCalls = (paths: Record<string, Record<string, Operation>>): Entry[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary = '', description = '', tags: [tag = ''] = [] }]) => {
      const call = path.replace(/^\/v1/, '')
      return {
        path: `${REFERENCE.path}#tag/${tag.toLowerCase()}/${method.toUpperCase()}${call}`,
        page: REFERENCE.name,
        names: [call.split('/').at(-1) ?? ''],
        weight: 0.5,
        title: `${call.slice(1)}: ${summary}`,
        text: description.replaceAll('`', ''),
      }
    }),
  )

export const entriesOfErrors = (environment: Environment): Entry[] =>
  errorCodesOf(environment).map((code) => {
    const { meaning, remedy } = errorHelp[code]
    return {
      path: `${ERRORS_PATH}#${code}`,
      page: 'Errors',
      names: [code, String(errorCatalogue[code].status)],
      weight: 0.25,
      title: `${errorCatalogue[code].status} ${code}`,
      text: `${meaning}. ${remedy}.`.replaceAll('`', ''),
    }
  })
