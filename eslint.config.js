import { existsSync } from 'node:fs';
import { join } from 'node:path';

import js from '@eslint/js';
import plugin from '@typescript-eslint/eslint-plugin';
import parser from '@typescript-eslint/parser';
import { defineConfig, globalIgnores } from 'eslint/config';

/** Only relative files, and the bare specifiers listed, may be imported. */
function onlyImports(allowed) {
  const list = allowed.map((a) => a.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|');
  const message = `Allowed here: relative files${allowed.map((a) => `, ${a}`).join('')}.`;
  return {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          { regex: `^(?!\\.{1,2}/)(?!(?:${list || '(?!)'})$)`, message },
          {
            regex: '^(\\.{1,2}/|@celestea/)(.*/)?(dist|packages)/',
            message: 'Cross packages by name, and import sources only.',
          },
        ],
      },
    ],
    'no-restricted-syntax': [
      'error',
      { selector: 'ImportExpression', message: 'No dynamic import here.' },
      { selector: 'TSImportType', message: "No import('…') type here." },
      { selector: 'TSImportEqualsDeclaration', message: 'No import = here.' },
    ],
  };
}

/** The arrows of the house: what the sources of each package may import. */
const core = '@celestea/core';
const arrows = {
  core: [],
  session: [core, 'node:crypto', 'node:fs', 'node:fs/promises', 'node:os', 'node:path'],
  tools: [
    core,
    'ajv',
    'ajv/dist/2020.js',
    'node:child_process',
    'node:fs',
    'node:fs/promises',
    'node:path',
  ],
  mcp: [
    core,
    '@celestea/tools',
    '@celestea/tools/process-group',
    '@modelcontextprotocol/sdk/client/index.js',
    '@modelcontextprotocol/sdk/client/stdio.js',
    '@modelcontextprotocol/sdk/client/streamableHttp.js',
    '@modelcontextprotocol/sdk/shared/protocol.js',
    '@modelcontextprotocol/sdk/shared/stdio.js',
    '@modelcontextprotocol/sdk/shared/transport.js',
    '@modelcontextprotocol/sdk/types.js',
    'node:child_process',
    'node:crypto',
    'node:events',
  ],
  llm: [
    core,
    '@ai-sdk/anthropic',
    '@ai-sdk/google',
    '@ai-sdk/openai-compatible',
    '@ai-sdk/provider',
    'node:process',
  ],
  host: [
    core,
    '@celestea/agent-loop',
    '@celestea/session',
    '@celestea/tools',
    '@hono/node-server',
    'hono',
    'hono/cookie',
    'hono/route',
    'node:crypto',
    'node:events',
    'node:fs',
    'node:fs/promises',
    'node:path',
    'pino',
    'prom-client',
    'zod',
  ],
  offline: [core],
  otel: [core, '@celestea/agent-loop', '@opentelemetry/api'],
  cli: [
    core,
    '@celestea/agent-loop',
    '@celestea/agent-loop/check',
    '@celestea/host',
    '@celestea/session',
    '@celestea/tools',
    '@celestea/mcp',
    '@celestea/llm',
    '@celestea/offline',
    'node:events',
    'node:fs',
    'node:path',
    'node:process',
    'node:readline',
    'node:util',
  ],
};

/** Their types are known where the packages of bench are installed, which `pnpm bench` does. */
const hasBench = existsSync(join(import.meta.dirname, 'bench/node_modules'));
const uninstalled = hasBench ? [] : ['bench/*', '!bench/load/'];

const strictTypeChecked = plugin.configs['flat/strict-type-checked'];
const stylisticTypeChecked = plugin.configs['flat/stylistic-type-checked'];

export default defineConfig(
  globalIgnores(['**/dist/', '**/coverage/', '.snippets-*/', '.stryker/', 'scratch/', ...uninstalled]),
  js.configs.recommended,
  { files: ['**/*.ts', '**/*.tsx'], extends: [strictTypeChecked, stylisticTypeChecked] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: {
      parser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 80, skipComments: true, IIFEs: true }],
    },
  },
  {
    files: ['src/**/*.ts', 'packages/core/src/**/*.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        'process',
        'Buffer',
        'require',
        'global',
        '__dirname',
        '__filename',
      ],
    },
  },
  { files: ['src/**/*.ts'], rules: onlyImports([core]) },
  ...Object.entries(arrows).map(([name, allowed]) => ({
    files: [`packages/${name}/src/**/*.ts`],
    rules: onlyImports(allowed),
  })),
  {
    files: ['packages/host/page/**/*.ts', 'packages/host/page/**/*.tsx'],
    rules: onlyImports([core, 'dompurify', 'marked', 'preact', 'preact/hooks']),
  },
  {
    files: ['**/test/**', 'bench/**'],
    rules: { 'max-lines-per-function': 'off' },
  },
);
