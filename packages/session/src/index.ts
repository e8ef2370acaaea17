export { InMemorySessionLog, inMemorySessionLogPlugin } from './in-memory.ts';
export { JsonlSessionLog, jsonlSessionLogPlugin } from './jsonl-log.ts';
export type { JsonlSessionLogOptions, OpenReport } from './jsonl-log.ts';
export {
  SessionLogBrokenError,
  SessionLogDamagedError,
  SessionLogInUseError,
} from './errors.ts';
export type { DamagedLine, LockHolder } from './errors.ts';
export { sessionLogHolder } from './file-lock.ts';
export type { LogHolding } from './file-lock.ts';
export type { FileSystem } from './file-system.ts';
export { attachmentsFolderOf, FileAttachmentStore } from './attachments/file-attachment-store.ts';
export { InMemoryAttachmentStore } from './attachments/in-memory-attachment-store.ts';
export type { AttachmentStoreOptions } from './attachments/attachment-limits.ts';
