import { defineConfig } from 'vitest/config';

/**
 * The tests that judge a mutant of `src/`: none that reads the sources as text or starts a
 * process, and of the laws the tables and the quick ones. What is drawn at random is the same in
 * every run.
 */
export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/{bundle,contracts,examples,readme,rules,sources}.test.ts',
      'test/laws/{laws-*,reopen}.test.ts',
      'test/**/*.integration.test.ts',
    ],
    setupFiles: ['test/support/fixed-seed.ts', 'test/support/guards.ts'],
    env: { CELESTEA_RUNS: '200' },
    testTimeout: 20_000,
  },
});
