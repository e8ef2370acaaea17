import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { WireContext } from '../../src/wire.ts';
import { readContext, type ApiReply } from '../api.ts';
import { valueText } from '../model/result-text.ts';
import { countWords, counted } from '../model/words.ts';
import { Dialog } from './dialog.tsx';
import { Fold } from './fold.tsx';
import { LongText } from './long-text.tsx';

interface ContextProps {
  readonly session: string;
  readonly close: () => void;
}

/** What the next request to the model would be. */
export function ContextDialog({ session, close }: ContextProps): VNode {
  const [reply, setReply] = useState<ApiReply<{ readonly context: WireContext }> | null>(null);
  useEffect(() => {
    void readContext(session).then(setReply);
  }, [session]);
  return (
    <Dialog title="Next request" close={close}>
      {reply === null && <p>Asking the host…</p>}
      {reply?.ok === false && <p role="alert">It could not be read: {reply.error.message}</p>}
      {reply?.ok === true && <ContextParts context={reply.value.context} />}
    </Dialog>
  );
}

function ContextParts({ context }: { context: WireContext }): VNode {
  const { request, tokens, window, budget } = context;
  const parts: [string, number][] = [
    ['System prompt', tokens.system],
    ['Tools', tokens.tools],
    ['Messages of the user', tokens.messages.user],
    ['Replies and calls', tokens.messages.assistant],
    ['Results of tools', tokens.messages.tool],
    ['Other messages', tokens.messages.system],
  ];
  return (
    <>
      <p>
        About {counted(tokens.total, 'token')}
        {window > 0 && ` of a window of ${countWords(window)}`}
        {budget !== null && `; system prompt and messages may take ${countWords(budget)}`}.
      </p>
      <table class="tokens">
        <caption class="unseen">Tokens by part, estimated</caption>
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col">Tokens</th>
            <th scope="col">Share</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(([label, count]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td class="numbers">{countWords(count)}</td>
              <td>
                <meter min={0} max={Math.max(1, tokens.total)} value={count} aria-label={label} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Fold label="System prompt" isOpen={false}>
        {() => <LongText text={request.system ?? ''} label="System prompt" />}
      </Fold>
      <Fold label={counted(request.messages.length, 'message')} isOpen={false}>
        {() => <LongText text={valueText(request.messages)} label="Messages" />}
      </Fold>
      <Fold label={counted(request.tools.length, 'tool')} isOpen={false}>
        {() => <LongText text={valueText(request.tools)} label="Tools" />}
      </Fold>
    </>
  );
}
