/** The largest message taken from a server: a picture of 20 MB in base64, and some room. */
export const MAX_MESSAGE_BYTES: number = 32 * 1024 * 1024;

/** The largest picture taken from a result, in bytes. */
export const MAX_IMAGE_BYTES = 20_000_000;

/** UTF-16 units of a tool's description. */
export const MAX_DESCRIPTION = 4_000;

/** UTF-16 units of a tool's input schema, as JSON. */
export const MAX_SCHEMA = 100_000;

/** Tools of one server. */
export const MAX_TOOLS = 1_000;

/** Pages of one list of tools. */
export const MAX_PAGES = 200;

/** How long a server gets to end by itself, and again after it was asked to (ms). */
export const CLOSE_GRACE_MS = 2_000;

/** How long what a dead server left behind may hold its output open (ms). */
export const LEFTOVER_GRACE_MS = 1_000;

/** The least time between two listings that a server asks for (ms). */
export const RELIST_PAUSE_MS = 50;
