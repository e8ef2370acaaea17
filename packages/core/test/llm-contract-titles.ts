import type { LlmScenario } from '@celestea/core/contracts';

const WHOLE: readonly LlmScenario[] = ['words', 'calls', 'cut'];
const REFUSALS: readonly LlmScenario[] = ['refused', 'busy'];
const WAITING: readonly LlmScenario[] = ['silent', 'stalled'];

const inEach = (scenarios: readonly LlmScenario[], title: string): readonly string[] =>
  scenarios.map((scenario) => `${scenario}: ${title}`);

export const ONE_DONE = 'C2.2 is ended by one done, and after it only thinks and tells usage';
export const STATUS_TITLE = 'C2.4 the error has the status, and whether to try again';
const GONE_TITLE = 'X2 lets the model go, and leaves no listener on the signal';

export const KNOWN = inEach(WHOLE, 'C2.2 brings known events alone');
export const ENDS = inEach(WHOLE, ONE_DONE);
export const SENT = inEach(WHOLE, 'C2.2 brings the words that were sent');
export const MESSAGE = inEach(
  WHOLE,
  'C2.2 its message is from the assistant, with the words that were streamed',
);
export const USAGE = inEach(WHOLE, 'C2.2 tells its usage once, in counts');
export const REASON = inEach(WHOLE, 'X8 names no reason to stop but the one there was');
export const THINKS = 'words: C2.2 thinks what was sent, or keeps it to itself';
export const AGAIN = 'words: C2.3 answers the same request again';
export const AT_ONCE = 'words: C2.3 answers two requests at once, each by itself';
export const UNCHANGED = 'words: C1.5 leaves the request as it is';
export const READ_QUIETLY = 'words: X2 leaves no listener on the signal of a reply that was read';
export const CALLS =
  'calls: C1.3 makes all its calls in one message, in order, with their arguments';
export const IDS = 'calls: C2.2 gives each call an id of its own';
export const SIGNED_THOUGHT = 'signed: X10 brings its reasoning signed';
export const SIGNED_CALLS = 'signed: X10 brings its calls signed';
export const JSON_ONLY =
  'signed: X10 a signature is JSON, and the same after it was written and read';
export const TAKES_BACK = 'signed: X10 takes back what it signed';
export const CUT = 'cut: X8 says that its reply was cut';
export const REJECTS = inEach(
  REFUSALS,
  'C2.3 C2.4 rejects, or throws at the first read, with an LlmError',
);
export const STATUS = inEach(REFUSALS, STATUS_TITLE);
export const SAYS = inEach(REFUSALS, 'C2.4 the error says what the provider said');
export const LATER = 'busy: C2.4 answers the same request later';
export const FAILS = 'torn: C2.2 fails or is interrupted, and is never done';
export const NO_MORE = 'torn: C2.2 streams no words that were not sent';
export const TELLS = 'torn: C2.4 what it throws is an LlmError, and a failure says why';
export const FAIL_QUIETLY = inEach(
  [...REFUSALS, 'torn'],
  'X2 leaves no listener on the signal of a reply that failed',
);
export const UNHEARD = 'silent: X2 an abort ends the wait for a reply';
export const UNREAD = 'stalled: X2 an abort ends the read that is waiting';
export const GONE = inEach(WAITING, GONE_TITLE);
export const NOT_ASKED_GONE = `aborted: ${GONE_TITLE}`;
export const LEAVES =
  'left: C2.3 gives what it has before the reply is over, and lets its reader and the model go';
export const LEAVES_QUIETLY = 'left: X2 leaves no listener on the signal of a reader who left';
export const NOT_ASKED = 'aborted: X2 gives no reply';
export const SAYS_NOTHING = 'aborted: X2 says nothing';
