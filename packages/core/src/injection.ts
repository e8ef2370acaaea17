/** A message for a turn that is already running. */
export interface PendingInjection {
  text: string;
  /** Who it is from; may be empty. */
  from: string;
}

/** Where a running turn finds messages that came in meanwhile. */
export interface InjectionSource {
  /** Hands over what is waiting, oldest first; what was handed over is the caller's. */
  drain(): readonly PendingInjection[];
  /** How many are waiting. */
  pending?(): number;
}

/** `[from <from>] <text>`, or the bare text when `from` is empty. */
export function formatInjection(injection: PendingInjection): string {
  return injection.from === '' ? injection.text : `[from ${injection.from}] ${injection.text}`;
}
