/** What the API gives each request, and answers as `X-Request-Id`: a UUID. */
export const REQUEST_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
