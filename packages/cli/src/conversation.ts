import {
  createAgentLoop,
  type DefaultAgentLoop,
  type DiagnosticListener,
  type EventSink,
} from '@celestea/agent-loop';
import {
  Context,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type AttachmentStore,
  type ImageRef,
  type InjectionSource,
  type Llm,
  type ToolRegistry,
  type TurnOutcome,
} from '@celestea/core';

import { agentConfigOf, timeoutsOf } from './agent-config.ts';
import { Approvals } from './approvals.ts';
import type { TurnSettings } from './args.ts';
import type { CliParts } from './cli-parts.ts';
import { remark, type Refusal } from './complain.ts';
import { startDeadline } from './deadline.ts';
import { formatDuration } from './format.ts';
import type { CliIo } from './io.ts';
import type { TurnLimits } from './limits.ts';
import { ModelNotices, type ModelNoticeListener } from './model-notices.ts';
import { openModel, type OpenedModel } from './open-model.ts';
import { findSession, openSession, type Session } from './open-session.ts';
import { pictureAdvice } from './picture-advice.ts';
import { typedInFolder } from './places.ts';
import type { SessionLabel } from './render.ts';
import { checkRoot, openToolSet, rootOf, type ToolSet } from './tool-set.ts';
import { TurnLog } from './turn-log.ts';
import type { TurnMeter } from './turn-meter.ts';

/** What is told of a turn while it runs. */
export interface TurnView {
  readonly sink: EventSink;
  readonly onDiagnostic: DiagnosticListener;
  /** Told of what the model does beside its replies. */
  readonly onModelNotice: ModelNoticeListener;
  /** Told what the person can do about a model that fails. */
  readonly onAdvice: (text: string) => void;
  /** Told before the turn ends because it took too long. */
  readonly onTimeout: (reason: string) => void;
}

/** What one turn is run with. */
export interface TurnRun {
  readonly view: TurnView;
  readonly meter: TurnMeter;
  /** Cancels the turn. */
  readonly cancel: AbortController;
  /** Pictures that go with the question; the session has them. */
  readonly attachments?: readonly ImageRef[];
  /** Messages that come in meanwhile. */
  readonly steering?: InjectionSource;
}

interface ConversationParts {
  readonly model: OpenedModel;
  readonly notices: ModelNotices;
  readonly root: string;
  readonly session: Session;
  readonly tools: ToolSet;
  readonly approvals: Approvals;
  readonly limits: TurnLimits;
  readonly signal: AbortSignal;
}

/** Turns over one session, with the files of one folder. It is closed by who opened it. */
export class Conversation {
  readonly log: TurnLog;
  /** What is told of the file that keeps it; `null` when nothing is kept. */
  readonly label: SessionLabel | null;
  /** The questions of the calls that have to be approved. */
  readonly approvals: Approvals;
  /** Where the pictures of the session are. */
  readonly attachments: AttachmentStore;
  /** Closes the session and ends the servers. Rejects when the session's disk fails. */
  readonly close: () => Promise<void>;
  /** Who answers. */
  readonly model: string;
  /** The folder, absolute. */
  readonly root: string;
  readonly #llm: Llm;
  readonly #sendsPictures: boolean;
  readonly #notices: ModelNotices;
  readonly #registry: ToolRegistry;
  readonly #timeoutMs: number | null;
  readonly #loop: DefaultAgentLoop;

  constructor(parts: ConversationParts) {
    const { root, session, tools, approvals, limits, signal } = parts;
    const { model, watchesSilence, sendsPictures } = parts.model;
    this.log = new TurnLog(session.log);
    this.label = session.label;
    this.approvals = approvals;
    this.attachments = session.attachments;
    this.close = async () => {
      try {
        await session.close();
      } finally {
        await tools.close();
      }
    };
    this.model = model.name;
    this.root = root;
    this.#llm = model.llm;
    this.#sendsPictures = sendsPictures;
    this.#notices = parts.notices;
    this.#registry = tools.registryFor(approvals);
    this.#timeoutMs = limits.timeoutMs;
    const timeouts = timeoutsOf(limits, { watchesSilence });
    this.#loop = createAgentLoop(agentConfigOf(model.name, limits), { signal, timeouts });
  }

  /** Runs one turn to its end. Rejects only with what a broken seam throws. */
  async ask(
    question: string,
    { view, meter, cancel, attachments, steering }: TurnRun,
  ): Promise<TurnOutcome> {
    const milliseconds = this.#timeoutMs;
    const stopClock = startDeadline(milliseconds, () => {
      const reason = `it took longer than --timeout, ${formatDuration(milliseconds ?? 0)}`;
      view.onTimeout(reason);
      cancel.abort(new DOMException(reason, 'TimeoutError'));
    });
    this.#notices.listen(view.onModelNotice, this.model);
    const ctx = Context.root()
      .provide(LLM_SERVICE, meter.countSteps(this.#llm))
      .provide(SESSION_LOG_SERVICE, this.log)
      .provide(TOOL_REGISTRY_SERVICE, meter.timeCalls(this.#registry));
    try {
      return await this.#loop.runTurnOutcome(ctx, question, {
        attachments,
        signal: cancel.signal,
        sink: view.sink,
        usage: meter.usage,
        injections: steering,
        onDiagnostic: (diagnostic) => {
          const advice = this.#sendsPictures ? pictureAdvice(diagnostic, this.log) : null;
          if (advice !== null) view.onAdvice(advice);
          view.onDiagnostic(diagnostic);
        },
      });
    } finally {
      stopClock();
      this.#notices.listen(null, this.model);
    }
  }
}

/** A conversation, or why there is none. */
export type OpenedConversation =
  { readonly ok: true; readonly conversation: Conversation } | Refusal;

/**
 * Opens a conversation over the folder and the session that the settings name. What is misuse
 * is told before a server is asked for anything, and the session is opened last: what cannot
 * begin leaves none.
 */
export async function openConversation(
  settings: TurnSettings,
  io: CliIo,
  parts: CliParts,
): Promise<OpenedConversation> {
  const typedIn = typedInFolder(io);
  const place = { root: settings.root, typedIn };
  const badRoot = checkRoot(place);
  if (badRoot !== null) return badRoot;
  const found = findSession(settings.session, { root: rootOf(place), typedIn });
  if (!found.ok) return found;
  const notices = new ModelNotices();
  let pictures: AttachmentStore | null = null;
  const model = await openModel(settings, parts, {
    env: io.env,
    signal: io.signal,
    attachments: { read: async (ref) => (await pictures?.read(ref)) ?? null },
    notices,
  });
  if (!model.ok) return model;
  const approvals = new Approvals();
  const { signal } = io;
  const opened = await openToolSet(settings.tools, { ...place, signal });
  if (!opened.ok) return opened;
  const { root, tools } = opened;
  try {
    const session = await openSession(found, {
      root,
      typedIn,
      onUnkept: (reason) => {
        remark(io, reason);
      },
    });
    if (session.ok) {
      pictures = session.attachments;
      const { limits } = settings;
      const all = { model, notices, root, session, tools, approvals, limits, signal };
      return { ok: true, conversation: new Conversation(all) };
    }
    await tools.close();
    return session;
  } catch (error) {
    await tools.close();
    throw error;
  }
}
