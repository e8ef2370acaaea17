import { defineConfig } from 'vitest/config';

/**
 * The tests that judge a mutant of `src/`: none that reads the sources as text or starts a
 * process, and of the laws the tables, which are the same in every run.
 */
export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/{bundle,contracts,examples,readme,rules,sources}.test.ts',
      'test/laws/{context-fit,hostile-seams-huge,laws-*,reopen,soak}.test.ts',
    ],
    setupFiles: ['test/support/guards.ts'],
    testTimeout: 20_000,
  },
});
