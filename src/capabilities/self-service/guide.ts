import { OVERLAP_HOURS } from '../../core/endpoints/decisions/endpoint.ts'
import { certificationChecks } from '../../core/endpoints/decisions/certification.ts'

/** How a partner sets its endpoint up: a section of the reference's guide to webhooks, in Markdown. */
export const setUpGuide = `## Set up your endpoint

1. Call \`set-endpoint\` with your URL. The response has its signing secret (\`whsec_…\`), which is shown only once. In production \
the URL must use \`https\`, on port 443 or 8443, at a public address; a sandbox on your own machine also calls \
\`http://127.0.0.1\`.
2. Give the secret to your receiver.
3. Call \`certify-endpoint\`. We send ${certificationChecks.length} requests to the URL, some of which your receiver must accept and some refuse. \
\`get-endpoint\` shows the result of each, and what to change.

When all have passed, the URL and its secret take effect at once, and we email your contact. In production, our staff first turn this on for you.

\`rotate-endpoint-secret\` replaces the secret; the previous one also signs for ${OVERLAP_HOURS.default} hours, or for up to \
${OVERLAP_HOURS.max} if you say so.`
