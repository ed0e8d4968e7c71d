/** How the audit names a key that acts. */
export const auditName = (keyId: number) => `key ${keyId}`

/** How it names what staff asked for, and a workflow ends: an earlier row says who of staff that was. */
export const STAFF = 'staff'
