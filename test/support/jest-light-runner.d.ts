declare module 'jest-light-runner' {
  export interface Test {
    path: string
  }
  export type OnStart = (test: Test) => Promise<void>
  export type OnResult = (test: Test, result: unknown) => Promise<void>
  export type OnFailure = (test: Test, error: unknown) => Promise<void>

  export default class LightRunner {
    runTests(
      tests: Test[],
      watcher: unknown,
      onStart: OnStart,
      onResult: OnResult,
      onFailure: OnFailure,
    ): Promise<void>
  }
}
