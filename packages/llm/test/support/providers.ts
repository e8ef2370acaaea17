import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';

import { directFetch } from '../../src/direct-fetch.ts';
import { aiSdkLlm, openAICompatibleLlm } from '../../src/index.ts';
import { ANTHROPIC } from './provider-streams/anthropic.ts';
import { GEMINI } from './provider-streams/gemini.ts';
import { KEY } from './provider-streams/good-stream.ts';
import { OPENAI } from './provider-streams/openai.ts';
import type { Endpoint, Provider } from './provider-suite.ts';

/** As the adapters are set up for whoever names no `fetch`. */
const settingsOf = ({ baseURL, fetch }: Endpoint) => ({
  baseURL,
  apiKey: KEY,
  fetch: directFetch(fetch),
});

export const openAIProvider: Provider = {
  title: 'OpenAI chat completions',
  ...OPENAI,
  llm: (endpoint, options = {}) =>
    openAICompatibleLlm({ ...endpoint, ...options, model: 'test-model', apiKey: KEY }),
};

export const anthropicProvider: Provider = {
  title: 'Anthropic messages',
  ...ANTHROPIC,
  llm: (endpoint, options = {}) =>
    aiSdkLlm(createAnthropic(settingsOf(endpoint))('claude-sonnet-4-5'), {
      ...options,
      secrets: [KEY],
    }),
};

export const geminiProvider: Provider = {
  title: 'Gemini',
  ...GEMINI,
  llm: (endpoint, options = {}) =>
    aiSdkLlm(createGoogleGenerativeAI(settingsOf(endpoint))('gemini-3-test'), {
      ...options,
      secrets: [KEY],
    }),
};
