export { InMemorySessionLog, inMemorySessionLogPlugin } from './in-memory.ts';
