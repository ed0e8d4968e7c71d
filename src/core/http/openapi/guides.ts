import { readFileSync } from 'node:fs'

/** Pages of docs/ for lenders: sections of the reference, and served as Markdown beside it. */
const names = ['integrate', 'webhooks', 'sandbox']
const folder = new URL('../../../../docs/', import.meta.url)

/** Links to files that are not served. */
const ELSEWHERE = /\[([^[\]]+)\]\((?!https?:|#|(?:integrate|webhooks|sandbox)\.md)[^[)]+\)/g
const BETWEEN_SECTIONS = /\]\((?:\w+\.md)?#/g

export const guides = names.map((name) => {
  const text = readFileSync(new URL(`${name}.md`, folder), 'utf8').replaceAll(ELSEWHERE, '$1')
  const [, title = '', about = ''] = /^# (.*)\n\n([^.]*\.)/.exec(text) ?? []
  return {
    path: `/docs/${name}.md`,
    title,
    about: about.replaceAll('\n', ' '),
    text,
    /** The viewer's addresses of sections begin with that of the description. */
    inReference: text.replaceAll(BETWEEN_SECTIONS, '](#description/'),
  }
})

/** What programs that read documentation ask for: https://llmstxt.org. */
export const llmsText = `# Partner Referral Service

> Refer borrowers who were declined for credit reasons, and follow them until they are mortgage ready.

## Guides

${guides.map(({ path, title, about }) => `- [${title}](${path}): ${about}`).join('\n')}

## Reference

- [OpenAPI 3.1](/v1/openapi.json): every operation, webhook and schema, with examples.
`
