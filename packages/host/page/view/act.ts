import {
  answerApproval,
  createSession,
  forkSession,
  startTurn,
  steerTurn,
  type ApiFailure,
  type ApiReply,
} from '../api.ts';
import type { OwnLines } from '../own-lines.ts';
import type { Actions } from './actions.ts';
import { goTo } from './page-hooks.ts';

/** Waits for an answer, tells of a failure, and gives the value or `null`. */
type Act = <T>(request: Promise<ApiReply<T>>) => Promise<T | null>;

/** `onFailure` is told what went wrong, and with an empty text that nothing did. */
export function actor(onDone: () => void, onFailure: (text: string) => void): Act {
  return async (request) => {
    const reply = await request;
    onFailure(reply.ok ? '' : failureWords(reply.error));
    onDone();
    return reply.ok ? reply.value : null;
  };
}

function failureWords({ code, message }: ApiFailure): string {
  switch (code) {
    case 'unreachable':
      return 'The host does not answer. What you wrote is kept.';
    case 'unauthorized':
      return 'Not allowed in: open the address the host printed, the one with ?token= in it.';
    default:
      return message;
  }
}

/** Makes a session and opens it. */
export async function create(act: Act): Promise<void> {
  const made = await act(createSession());
  if (made !== null) goTo(made.session.id);
}

/** Starts a turn, or steers the one that is `running`; `true` when the host took it. */
export async function sendInput(
  input: string,
  selected: string | null,
  running: string | null,
  act: Act,
  own: OwnLines,
): Promise<boolean> {
  if (selected === null) return sendFirst(input, act);
  if (running === null) return (await act(startTurn(selected, input))) !== null;
  own.note(selected, running, input); // before: its turn may end while the answer is on its way
  const isTaken = (await act(steerTurn(selected, input))) !== null;
  if (!isTaken) own.forget(selected, input);
  return isTaken;
}

/** Without a session one is made; it is opened when its turn runs, so that no input is lost. */
async function sendFirst(input: string, act: Act): Promise<boolean> {
  const made = await act(createSession());
  const started = made === null ? null : await act(startTurn(made.session.id, input));
  if (made === null || started === null) return false;
  goTo(made.session.id);
  return true;
}

/** What can be done in the turns of a session. */
export function turnActions(selected: string | null, act: Act): Actions {
  return {
    fork: (turn) => {
      if (selected === null) return;
      void act(forkSession(selected, turn)).then((made) => {
        if (made !== null) goTo(made.session.id);
      });
    },
    answer: async (approval, decision, reason) => {
      if (selected !== null) await act(answerApproval(selected, approval, decision, reason));
    },
  };
}
