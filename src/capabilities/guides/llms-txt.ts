import { ERRORS_PATH } from '../../core/http/error-help.ts'
import type { Guide } from './guides.ts'

/** What there is to read, for language models: https://llmstxt.org. */
export const llmsTxt = (guides: readonly Guide[]) => `# Partner Referral Service

> Lenders refer borrowers whom they declined for credit reasons, and get a signed webhook at every milestone until the
> borrower is mortgage-ready. REST with JSON; clients for TypeScript and Python.

Requests are POST to \`/v1/<call>\` with the header \`Authorization: Service-Key <key>\`. A key that begins with \`prs_test_\`
works in the sandbox only, one with \`prs_live_\` in production only.

## Guides

${guides.map(({ name, path, about }) => `- [${name}](${path}.md): ${about}`).join('\n')}

## Reference

- [OpenAPI 3.1](/v1/openapi.json): every call and webhook with schemas, examples, and samples for the clients
- [Errors](${ERRORS_PATH}.md): every error code, what it means, and what to do
`
