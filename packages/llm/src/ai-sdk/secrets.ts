/** What takes the place of a secret. */
const HIDDEN = '[hidden]';
/** What is shorter is a stand-in for a key, and would be hidden inside of words. */
const MIN_LENGTH = 4;

/** Texts that look like keys, whoever's they are. */
const KEY_SHAPES: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|key)-[\w-]{8,}/g,
  /\bAIza[\w-]{20,}/g,
  /\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}/gi,
  /(?<=:\/\/)[^\s/@]+(?=@)/g,
];

/** Gives back a text without the secrets in it, and without what looks like one. */
export type Redact = (text: string) => string;

/** @param secrets texts that must not be shown; those of less than 4 characters are ignored */
export function redactor(secrets: readonly string[]): Redact {
  // the longest first: one may be the beginning of another
  const known = secrets
    .map((secret) => secret.trim())
    .filter((secret) => secret.length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let shown = text;
    for (const secret of known) shown = shown.replaceAll(secret, HIDDEN);
    for (const shape of KEY_SHAPES) shown = shown.replace(shape, HIDDEN);
    return shown;
  };
}
