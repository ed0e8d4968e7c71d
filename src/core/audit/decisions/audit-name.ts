/** How the audit names a key that acts. */
export const auditName = (keyId: number) => `key ${keyId}`
