/** A deployment is one of the two, with a database, a Temporal namespace, keys and an address of its own. */
export const environments = ['sandbox', 'production'] as const
export type Environment = (typeof environments)[number]
