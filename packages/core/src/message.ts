/** Who a message is from. */
export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** Every {@link Role}, in the order a conversation introduces them. */
export const ROLES: readonly Role[] = ['system', 'user', 'assistant', 'tool'];

/** A model's wish to run one tool: the provider's call id and the raw JSON arguments. */
export interface ToolCall {
  id: string;
  name: string;
  args: unknown;
  /** What the provider wants back verbatim with this call, such as a signature (X10). Opaque. */
  meta?: unknown;
}

/** A media type an {@link ImageRef} can have. */
export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';

/** Every {@link ImageMediaType}. */
export const IMAGE_MEDIA_TYPES: readonly ImageMediaType[] = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
];

/** A picture by reference, never its bytes. */
export interface ImageRef {
  /** Lower-case hexadecimal SHA-256 of the bytes. */
  attachment_id: string;
  media_type: ImageMediaType;
  /** Pixels. */
  width: number;
  /** Pixels. */
  height: number;
  name?: string;
  /** The picture before it was scaled down; `bytes` is its size. */
  original?: { width: number; height: number; bytes: number; media_type: ImageMediaType };
}

export interface TextContent {
  type: 'text';
  content: string;
}

export interface ToolCallContent {
  type: 'tool_call';
  content: ToolCall;
}

export interface ImageContent {
  type: 'image';
  content: ImageRef;
}

/**
 * Reasoning that a provider signed and wants back verbatim, in front of the reply it led
 * to (X10).
 */
export interface ThinkingContent {
  type: 'thinking';
  content: { text: string; meta: unknown };
}

/** One block of a message. */
export type Content = TextContent | ToolCallContent | ImageContent | ThinkingContent;

/**
 * What the model sees. Immutable by contract: nobody changes a message after handing it
 * over (C1.5), so the same object may stand in many requests.
 */
export interface Message {
  role: Role;
  content: Content[];
  /** The call this message answers; set on `role: 'tool'` alone. */
  tool_call_id: string | null;
}

const text = (content: string): TextContent => ({ type: 'text', content });

const message = (role: Role, content: Content[], callId: string | null = null): Message => ({
  role,
  content,
  tool_call_id: callId,
});

/** A picture as a content block. */
export function imageContent(ref: ImageRef): ImageContent {
  return { type: 'image', content: ref };
}

/** A user's words. */
export function userMessage(content: string): Message {
  return message('user', [text(content)]);
}

/** A standing instruction. */
export function systemMessage(content: string): Message {
  return message('system', [text(content)]);
}

/** A reply in words. */
export function assistantText(content: string): Message {
  return message('assistant', [text(content)]);
}

/** A reply that asks for one tool. Several calls of one reply belong into ONE message (C1.3). */
export function assistantToolCall(call: ToolCall): Message {
  return message('assistant', [{ type: 'tool_call', content: call }]);
}

/** The answer to the call `callId`. */
export function toolResultMessage(callId: string, content: string): Message {
  return message('tool', [text(content)], callId);
}

/** A user's words with pictures: the text first, the pictures after it. */
export function userMessageWithImages(content: string, refs: readonly ImageRef[]): Message {
  return message('user', [text(content), ...refs.map(imageContent)]);
}

/** An answer with pictures: the text first, the pictures after it. */
export function toolResultWithImages(
  callId: string,
  content: string,
  refs: readonly ImageRef[],
): Message {
  return message('tool', [text(content), ...refs.map(imageContent)], callId);
}

/** What {@link Message} offers as a value: the constructors under short names. */
export interface MessageConstructors {
  readonly user: typeof userMessage;
  readonly system: typeof systemMessage;
  readonly assistantText: typeof assistantText;
  readonly assistantToolCall: typeof assistantToolCall;
  readonly toolResult: typeof toolResultMessage;
  readonly userWithImages: typeof userMessageWithImages;
  readonly toolResultWithImages: typeof toolResultWithImages;
}

/** The constructors as one namespace: `Message.user('hi')` is `userMessage('hi')` (C1.1). */
export const Message: MessageConstructors = {
  user: userMessage,
  system: systemMessage,
  assistantText,
  assistantToolCall,
  toolResult: toolResultMessage,
  userWithImages: userMessageWithImages,
  toolResultWithImages,
};

export function isTextContent(block: Content): block is TextContent {
  return block.type === 'text';
}

export function isToolCallContent(block: Content): block is ToolCallContent {
  return block.type === 'tool_call';
}

export function isImageContent(block: Content): block is ImageContent {
  return block.type === 'image';
}

export function isThinkingContent(block: Content): block is ThinkingContent {
  return block.type === 'thinking';
}

export function isImageMediaType(value: unknown): value is ImageMediaType {
  return IMAGE_MEDIA_TYPES.some((type) => type === value);
}

/** The texts of all text blocks, in order. */
export function messageTexts(of: Message): string[] {
  return of.content.filter(isTextContent).map((block) => block.content);
}

/** The text when there is exactly one text block, whatever stands beside it; else `null`. */
export function messageText(of: Message): string | null {
  const texts = messageTexts(of);
  return texts.length === 1 ? (texts[0] ?? null) : null;
}

/** The tool calls, in order. */
export function messageToolCalls(of: Message): ToolCall[] {
  return of.content.filter(isToolCallContent).map((block) => block.content);
}

/** The ids of the tool calls, in order. */
export function toolCallIds(of: Message): string[] {
  return messageToolCalls(of).map((call) => call.id);
}

/** The pictures, in order. */
export function messageImages(of: Message): ImageRef[] {
  return of.content.filter(isImageContent).map((block) => block.content);
}

export function hasToolCalls(of: Message): boolean {
  return of.content.some(isToolCallContent);
}
