import { fitContext, type ContextPolicy } from '@celestea/agent-loop';

/** The loop's own policy, which tells of what it cut: once, and again when it cuts otherwise. */
export function tellingCuts(tell: (payload: Record<string, unknown>) => void): ContextPolicy {
  let told = '';
  return ({ messages, systemTokens, config }) => {
    const { context_window_tokens, context_trim_threshold, context_keep_recent } = config;
    const fitted = fitContext(
      messages,
      systemTokens,
      context_window_tokens,
      context_trim_threshold,
      context_keep_recent,
    );
    const { trimmed, removedMessages, removedTokens } = fitted.outcome;
    const payload = { removed_messages: removedMessages, removed_tokens: removedTokens };
    const cut = trimmed ? JSON.stringify(payload) : '';
    if (trimmed && cut !== told) tell(payload);
    told = cut;
    return fitted;
  };
}
