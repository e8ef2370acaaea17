import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { timelineLanes, type Bar, type Lane } from '../model/timeline-bars.ts';
import type { Step } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { useNow } from './elapsed.tsx';
import { InlineText } from './visible-text.tsx';

interface TimelineProps {
  readonly steps: readonly Step[];
  readonly firstStep: number;
  readonly isLive: boolean;
}

/** The height of a lane, in pixels; the labels beside it have the same. */
const LANE = 22;
const BAR = 12;
/** Nothing is too short to be seen and pointed at, in parts of the whole. */
const LEAST = 0.004;

/** When the model and the tools were at work, drawn, and in words for whoever does not see it. */
export function Timeline({ steps, firstStep, isLive }: TimelineProps): VNode {
  const now = useNow(isLive, 500);
  const [shown, setShown] = useState('');
  const lanes = timelineLanes(steps, firstStep, Math.max(now, lastTime(steps)));
  return (
    <div class="timeline">
      <div class="timeline-chart">
        <div class="timeline-labels" aria-hidden="true">
          {lanes.map((lane, index) => (
            <span key={index} class={lane.isStep ? 'lane-step' : 'lane-call'}>
              <InlineText text={lane.label} />
            </span>
          ))}
        </div>
        <svg
          width="100%"
          height={lanes.length * LANE}
          role="group"
          aria-label="Timeline of the turn"
          onMouseLeave={() => {
            setShown('');
          }}
        >
          {lanes.map((lane, index) => (
            <LaneBars key={index} lane={lane} top={index * LANE} onShow={setShown} />
          ))}
        </svg>
      </div>
      <p class="timeline-detail">
        <InlineText text={shown === '' ? 'Point at a bar, or focus it, for its times.' : shown} />
      </p>
      <details class="fold">
        <summary>In words</summary>
        <ol class="timeline-words">
          {lanes
            .flatMap(({ bars }) => bars)
            .map(({ text }, index) => (
              <li key={index}>
                <InlineText text={text} />
              </li>
            ))}
        </ol>
      </details>
    </div>
  );
}

interface LaneProps {
  readonly lane: Lane;
  readonly top: number;
  readonly onShow: (text: string) => void;
}

function LaneBars({ lane, top, onShow }: LaneProps): VNode {
  return (
    <g>
      {lane.isStep && <line x1="0" x2="100%" y1={top + 0.5} y2={top + 0.5} class="lane-line" />}
      {lane.bars.map((bar) => (
        <rect
          key={bar.kind}
          class={`lane-bar lane-${bar.kind === 'call' ? 'done' : bar.kind}`}
          x={percent(Math.min(bar.start, 1 - LEAST))}
          y={top + (LANE - BAR) / 2}
          width={percent(Math.max(bar.width, LEAST))}
          height={BAR}
          rx="2"
          tabIndex={0}
          role="img"
          aria-label={visibleText(bar.text)}
          onMouseEnter={show(bar, onShow)}
          onFocus={show(bar, onShow)}
        />
      ))}
    </g>
  );
}

function show({ text }: Bar, onShow: (text: string) => void): () => void {
  return () => {
    onShow(text);
  };
}

const percent = (part: number): string => `${(part * 100).toFixed(3)}%`;

/** The clock of a page that was not drawn for a while may be behind what it was told. */
function lastTime(steps: readonly Step[]): number {
  const last = steps.at(-1);
  return Math.max(0, last?.startedMs ?? 0, ...(last?.calls ?? []).map((call) => call.startedMs));
}
