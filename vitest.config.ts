import { defineConfig } from 'vitest/config';

const packages = ['core', 'session', 'tools', 'llm', 'offline', 'host', 'otel', 'cli'];
const guards = new URL('test/support/guards.ts', import.meta.url).pathname;

const project = (name: string, root: string) => ({
  extends: true as const,
  test: { name, root, include: ['test/**/*.test.ts'], setupFiles: [guards] },
});

export default defineConfig({
  test: {
    environment: 'node',
    // By default one core is left alone, which on a machine of two is half of it.
    maxWorkers: '100%',
    // Only a hang ends a test by the clock, never a slow machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'packages/*/src/**/*.ts'],
      reporter: ['text', 'json-summary'],
      thresholds: { lines: 90, branches: 85 },
    },
    projects: [
      project('agent-loop', '.'),
      ...packages.map((name) => project(name, `./packages/${name}`)),
    ],
  },
});
