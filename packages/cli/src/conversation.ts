import {
  createAgentLoop,
  type DefaultAgentLoop,
  type DiagnosticListener,
  type EventSink,
} from '@celestea/agent-loop';
import {
  Context,
  defaultAgentConfig,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type AgentConfig,
  type InjectionSource,
  type Llm,
  type ToolRegistry,
  type TurnOutcome,
} from '@celestea/core';
import { OfflineLlm } from '@celestea/llm';

import { Approvals } from './approvals.ts';
import type { TurnSettings } from './args.ts';
import { remark, type Refusal } from './complain.ts';
import { startDeadline } from './deadline.ts';
import { formatDuration } from './format.ts';
import type { CliIo } from './io.ts';
import type { TurnLimits } from './limits.ts';
import { openSession, type Session } from './open-session.ts';
import { typedInFolder } from './places.ts';
import type { SessionLabel } from './render.ts';
import { type ToolSet, openToolSet } from './tool-set.ts';
import { TurnLog } from './turn-log.ts';
import type { TurnMeter } from './turn-meter.ts';

/** A model and what people know it by. */
export interface NamedLlm {
  readonly name: string;
  readonly llm: Llm;
}

/** What is told of a turn while it runs. */
export interface TurnView {
  readonly sink: EventSink;
  readonly onDiagnostic: DiagnosticListener;
  /** Told before the turn ends because it took too long. */
  readonly onTimeout: (reason: string) => void;
}

/** What one turn is run with. */
export interface TurnRun {
  readonly view: TurnView;
  readonly meter: TurnMeter;
  /** Cancels the turn. */
  readonly cancel: AbortController;
  /** Messages that come in meanwhile. */
  readonly steering?: InjectionSource;
}

interface ConversationParts {
  readonly model: NamedLlm;
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
  /** Closes the session and ends the servers. Rejects when the session's disk fails. */
  readonly close: () => Promise<void>;
  /** Who answers. */
  readonly model: string;
  /** The folder, absolute. */
  readonly root: string;
  readonly #llm: Llm;
  readonly #registry: ToolRegistry;
  readonly #timeoutMs: number | null;
  readonly #loop: DefaultAgentLoop;

  constructor(parts: ConversationParts) {
    const { model, root, session, tools, approvals, limits, signal } = parts;
    this.log = new TurnLog(session.log);
    this.label = session.label;
    this.approvals = approvals;
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
    this.#registry = tools.registry;
    this.#timeoutMs = limits.timeoutMs;
    const timeouts = {
      streamIdleMs: limits.idleTimeoutMs ?? 0,
      toolMs: limits.toolTimeoutMs ?? 0,
    };
    this.#loop = createAgentLoop(configOf(model.name, limits), { signal, timeouts });
  }

  /** Runs one turn to its end. Rejects only with what a broken seam throws. */
  async ask(
    question: string,
    { view, meter, cancel, steering }: TurnRun,
  ): Promise<TurnOutcome> {
    const milliseconds = this.#timeoutMs;
    const stopClock = startDeadline(milliseconds, () => {
      const reason = `it took longer than --timeout, ${formatDuration(milliseconds ?? 0)}`;
      view.onTimeout(reason);
      cancel.abort(new DOMException(reason, 'TimeoutError'));
    });
    const ctx = Context.root()
      .provide(LLM_SERVICE, meter.countSteps(this.#llm))
      .provide(SESSION_LOG_SERVICE, this.log)
      .provide(TOOL_REGISTRY_SERVICE, meter.timeCalls(this.#registry));
    try {
      return await this.#loop.runTurnOutcome(ctx, question, {
        signal: cancel.signal,
        sink: view.sink,
        usage: meter.usage,
        injections: steering,
        onDiagnostic: view.onDiagnostic,
      });
    } finally {
      stopClock();
    }
  }
}

/** A conversation, or why there is none. */
export type OpenedConversation =
  { readonly ok: true; readonly conversation: Conversation } | Refusal;

/** Opens a conversation over the folder and the session that the settings name. */
export async function openConversation(
  settings: TurnSettings,
  io: CliIo,
  model: NamedLlm = offlineModel(settings),
): Promise<OpenedConversation> {
  const typedIn = typedInFolder(io);
  const approvals = new Approvals();
  const { signal } = io;
  const places = { root: settings.root, typedIn, approvals, signal };
  const opened = await openToolSet(settings.tools, places);
  if (!opened.ok) return opened;
  const { root, tools } = opened;
  try {
    const session = await openSession(settings.session, {
      root,
      typedIn,
      onUnkept: (reason) => {
        remark(io, reason);
      },
    });
    if (session.ok) {
      const { limits } = settings;
      const parts = { model, root, session, tools, approvals, limits, signal };
      return { ok: true, conversation: new Conversation(parts) };
    }
    await tools.close();
    return session;
  } catch (error) {
    await tools.close();
    throw error;
  }
}

function configOf(model: string, { maxSteps, windowTokens }: TurnLimits): AgentConfig {
  return defaultAgentConfig({
    model,
    ...(maxSteps === null ? {} : { max_steps: maxSteps }),
    ...(windowTokens === null ? {} : { context_window_tokens: windowTokens }),
  });
}

function offlineModel({ modelDelayMs }: TurnSettings): NamedLlm {
  return { name: 'offline model', llm: new OfflineLlm({ delayMs: modelDelayMs }) };
}
