import { isJSONObject, type SharedV3ProviderMetadata } from '@ai-sdk/provider';
import { isRecord } from '@celestea/core';

/**
 * What stands in the log as the `meta` of reasoning and calls (X10): whose it is, and what that
 * provider wants back verbatim. Another provider never gets it.
 */
export interface ProviderMeta {
  readonly provider: string;
  /** Left out for reasoning that is not signed and goes back all the same. */
  readonly metadata?: SharedV3ProviderMetadata;
}

/** A `meta` of the log when `provider` wrote it; else `null`. */
export function readProviderMeta(meta: unknown, provider: string): ProviderMeta | null {
  if (!isRecord(meta) || meta['provider'] !== provider) return null;
  const { metadata } = meta;
  if (metadata === undefined || metadata === null) return { provider };
  return isProviderMetadata(metadata) ? { provider, metadata } : null;
}

function isProviderMetadata(value: unknown): value is SharedV3ProviderMetadata {
  return isRecord(value) && Object.values(value).every(isJSONObject);
}

/** What the parts of one block said, put together; a later part wins. */
export function mergeMetadata(
  known: SharedV3ProviderMetadata | undefined,
  added: SharedV3ProviderMetadata | undefined,
): SharedV3ProviderMetadata | undefined {
  if (known === undefined || added === undefined) return added ?? known;
  const merged = { ...known };
  for (const [name, fields] of Object.entries(added)) merged[name] = { ...merged[name], ...fields };
  return merged;
}
