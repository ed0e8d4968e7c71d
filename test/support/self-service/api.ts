import type { EndpointSettings } from '../../../src/endpoints/own-endpoint.ts'

/** What self-service gives an API that runs without Temporal: `requested` is told of the workflows that would start. */
export const selfServiceOf = (requested: string[]): EndpointSettings => ({
  endpointRequests: {
    certify: async (partnerId) => void requested.push(`certify ${partnerId}`),
    async ping(partnerId) {
      requested.push(`ping ${partnerId}`)
      const webhook_id = 'ping_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e'
      return { webhook_id, ok: true, status: 200, duration_ms: 5, error_code: null, hint: null }
    },
  },
  allowPrivateNetwork: false,
})
