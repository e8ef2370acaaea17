import { defineConfig } from 'vitest/config';

/** The tests that judge a mutant of `src/`: no child process, no bundle, no document. */
export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/{bundle,contracts,examples,meta,readme,rules}.test.ts',
      'test/laws/**',
    ],
    setupFiles: ['test/support/guards.ts'],
    testTimeout: 20_000,
  },
});
