/** What a person can do, each reporting by itself what went wrong. They stay the same objects. */
export interface Actions {
  readonly fork: (turn: string) => void;
  readonly answer: (approval: string, decision: 'allow' | 'deny', reason: string) => Promise<void>;
}
