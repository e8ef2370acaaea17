/** The largest message taken from a server: a picture of 20 MB in base64, and some room. */
export const MAX_MESSAGE_BYTES: number = 32 * 1024 * 1024;

/** How long a server gets to end by itself, and again after it was asked to (ms). */
export const CLOSE_GRACE_MS = 2_000;
