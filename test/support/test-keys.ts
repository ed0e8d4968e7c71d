/** The ENCRYPTION_KEY of tests without processes. */
export const testKeys = [Buffer.alloc(32, 7)]
