/**
 * What a contract suite is handed to run under any test framework: `test` and `node:assert/strict`
 * of Node's runner, or `test` and `assert` of vitest.
 */
export interface ContractFramework {
  /** Registers one test. */
  readonly test: (title: string, run: () => Promise<void>) => unknown;
  readonly assert: ContractAssert;
}

/** The assertions that the suites use; each throws when it does not hold. */
export interface ContractAssert {
  ok(value: unknown, message?: string): void;
  equal(actual: unknown, expected: unknown, message?: string): void;
  /** Strict: types and missing fields count. */
  deepEqual(actual: unknown, expected: unknown, message?: string): void;
}
