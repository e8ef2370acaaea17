/** Stands in no id that is meant to be one. */
const MARK = '\0';

/**
 * The id under which an adapter gets a call whose id the reply had before: for the same one it
 * would make another up. {@link givenId} gives the provider's own back.
 *
 * @param index of this call alone
 */
export const repeatedId = (id: string, index: number): string => `${id}${MARK}${String(index)}`;

/** The id as the provider gave it. */
export const givenId = (id: string): string => id.split(MARK, 1).join();
