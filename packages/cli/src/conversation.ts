import { createAgentLoop, type DefaultAgentLoop } from '@celestea/agent-loop';
import {
  Context,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type AttachmentStore,
  type ImageRef,
  type InjectionSource,
  type SessionLog,
  type ToolRegistry,
  type TurnOutcome,
} from '@celestea/core';

import { Approvals } from './approvals.ts';
import { remark } from './exit.ts';
import { pictureAdvice } from './images.ts';
import type { CliIo, CliParts } from './io.ts';
import { ModelNotices, openModel, type OpenedModel } from './model.ts';
import type { Options } from './options.ts';
import { findPlaces } from './places.ts';
import { findSession, type Session } from './session.ts';
import { formatDuration } from './text.ts';
import { openToolSet, type ToolSet } from './tools.ts';
import type { TurnMeter } from './turn-meter.ts';
import { diagnosticNote, type TurnView } from './turn-view.ts';

/** What one turn is run with. */
export interface TurnRun {
  readonly view: TurnView;
  readonly meter: TurnMeter;
  /** Cancels the turn. */
  readonly cancel: AbortController;
  /** Pictures that go with the input; the session has them. */
  readonly attachments?: readonly ImageRef[];
  /** Messages that come in meanwhile. */
  readonly steering?: InjectionSource;
}

/** What a {@link Conversation} is made of. */
interface ConversationParts {
  readonly root: string;
  readonly model: OpenedModel;
  readonly notices: ModelNotices;
  readonly session: Session;
  readonly tools: ToolSet;
  /** Milliseconds a turn may take; `null` is no limit. */
  readonly timeout: number | null;
  readonly signal: AbortSignal;
}

/** Turns over one session, with the files of one folder. It is closed by who opened it. */
export class Conversation {
  /** The folder, absolute. */
  readonly root: string;
  readonly model: OpenedModel;
  readonly session: Session;
  /** The questions of the calls that have to be approved. */
  readonly approvals: Approvals = new Approvals();
  readonly #parts: ConversationParts;
  readonly #log: SessionLog;
  readonly #registry: ToolRegistry;
  readonly #loop: DefaultAgentLoop;
  #lastTurnId = '';

  constructor(parts: ConversationParts) {
    const { root, model, session, tools, signal } = parts;
    this.root = root;
    this.model = model;
    this.session = session;
    this.#parts = parts;
    this.#registry = tools.registryFor(this.approvals);
    this.#loop = createAgentLoop(model.config, { signal, timeouts: model.timeouts });
    this.#log = withTurnIds(session.log, (id) => {
      this.#lastTurnId = id;
    });
  }

  /** The id of the turn that was begun last; empty before the first one. */
  get lastTurnId(): string {
    return this.#lastTurnId;
  }

  /** Runs one turn to its end. Rejects only with what a broken seam throws. */
  async ask(input: string, run: TurnRun): Promise<TurnOutcome> {
    const { view, meter, cancel, attachments, steering } = run;
    const { model } = this;
    const { notices, timeout } = this.#parts;
    const expire = (): void => {
      const message = `it took longer than --timeout, ${formatDuration(timeout ?? 0)}`;
      view.tell({ phase: 'timeout', fields: { message }, line: message });
      cancel.abort(new DOMException(message, 'TimeoutError'));
    };
    const timer = timeout === null ? undefined : setTimeout(expire, timeout);
    notices.listen(view.tell, model.name);
    const ctx = Context.root()
      .provide(LLM_SERVICE, meter.countSteps(model.llm))
      .provide(SESSION_LOG_SERVICE, this.#log)
      .provide(TOOL_REGISTRY_SERVICE, meter.timeCalls(this.#registry));
    try {
      return await this.#loop.runTurnOutcome(ctx, input, {
        attachments,
        signal: cancel.signal,
        sink: view.sink,
        usage: meter.usage,
        injections: steering,
        onDiagnostic: (diagnostic) => {
          const message = model.sendsPictures ? pictureAdvice(diagnostic, this.#log) : null;
          if (message !== null) view.tell({ phase: 'advice', fields: { message }, line: message });
          view.tell(diagnosticNote(diagnostic));
        },
      });
    } finally {
      clearTimeout(timer);
      notices.listen(null, model.name);
    }
  }

  /** Closes the session and ends the servers. Rejects when the session's disk fails. */
  async close(): Promise<void> {
    const { session, tools } = this.#parts;
    try {
      await session.close();
    } finally {
      await tools.close();
    }
  }
}

/** The same log, which tells the id of each turn: to ask its rows would be to read them all. */
function withTurnIds(log: SessionLog, onTurnId: (id: string) => void): SessionLog {
  return {
    nextTurnId: () => {
      const id = log.nextTurnId();
      onTurnId(id);
      return id;
    },
    append: (row) => {
      log.append(row);
    },
    events: () => log.events(),
    deriveMessages: () => log.deriveMessages(),
    clear: () => {
      log.clear();
    },
    flush: () => log.flush?.() ?? Promise.resolve(),
  };
}

/**
 * Opens a conversation over the folder and the session that the options name. Rejects with a
 * {@link Refusal} that says why there is none. What is misuse is told before a server is asked for anything, and the session is opened
 * last: what cannot begin leaves none.
 */
export async function openConversation(
  options: Options,
  io: CliIo,
  parts: CliParts,
): Promise<Conversation> {
  const { env, signal } = io;
  const places = findPlaces(options.root, io);
  const openSession = findSession(options, places, (reason) => {
    remark(io, reason);
  });
  const notices = new ModelNotices();
  let pictures: AttachmentStore | null = null;
  const attachments: Pick<AttachmentStore, 'read'> = {
    read: async (ref) => (await pictures?.read(ref)) ?? null,
  };
  const model = await openModel(options, parts, { env, signal, attachments, notices });
  const tools = await openToolSet(options, places, signal);
  try {
    const session = await openSession();
    pictures = session.attachments;
    const { timeout } = options;
    const { root } = places;
    return new Conversation({ model, notices, root, session, tools, timeout, signal });
  } catch (error) {
    await tools.close();
    throw error;
  }
}
