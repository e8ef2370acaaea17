import { defineConfig } from 'vitest/config';

const packages = ['core', 'session', 'tools', 'mcp', 'llm', 'offline', 'host', 'otel', 'cli'];
const guards = new URL('test/support/guards.ts', import.meta.url).pathname;

/** Suites with real browsers, servers and killed processes: `--mode integration` runs them alone. */
const INTEGRATION = 'test/**/*.integration.test.ts';

const filesOf = (mode: string): { include: string[]; exclude: string[] } =>
  mode === 'integration'
    ? { include: [INTEGRATION], exclude: [] }
    : { include: ['test/**/*.test.ts'], exclude: [INTEGRATION] };

const project = (name: string, root: string, mode: string) => ({
  extends: true as const,
  test: { name, root, ...filesOf(mode), setupFiles: [guards] },
});

export default defineConfig(({ mode }) => ({
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
      project('agent-loop', '.', mode),
      ...packages.map((name) => project(name, `./packages/${name}`, mode)),
    ],
  },
}));
