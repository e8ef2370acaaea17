/** Imported to see what importing costs at all. */
export const nothing: unknown = null;
