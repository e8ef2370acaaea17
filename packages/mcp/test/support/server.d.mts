import type { Server } from '@modelcontextprotocol/sdk/server/index.js';

/** `opened` resolves when a client hears of what it did not ask for. */
export function serverOf(opened: Promise<void>): Server;
