/** Runs once before all tests. */
export default async function globalSetup(): Promise<void> {}
