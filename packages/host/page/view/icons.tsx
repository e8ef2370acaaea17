import type { VNode } from 'preact';

/** Each a shape of its own, so that nothing is told by colour alone. */
const SHAPES = {
  done: 'M3 8.5 6.5 12 13 4.5',
  failed: 'M4 4l8 8M12 4l-8 8',
  denied: 'M8 2a6 6 0 1 0 .01 0M4 12l8-8',
  waiting: 'M8 2a6 6 0 1 0 .01 0M8 5v3.5l2.5 1.5',
  running: 'M8 2a6 6 0 0 1 6 6',
  not_run: 'M3 8h10',
  abandoned: 'M5.5 6a2.5 2.5 0 1 1 3.5 2.3c-.7.4-1 .8-1 1.7M8 13v.2',
  cancelled: 'M4.5 4.5h7v7h-7z',
  step_limit: 'M8 2l6 6-6 6-6-6zM8 5.5v3M8 10.7v.1',
  interrupted: 'M9 1.5 4 9h4l-1 5.5L12 7H8z',
  menu: 'M2 4h12M2 8h12M2 12h12',
  plus: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  fork: 'M4.5 2.5v11M4.5 8c0-2.500 7-1 7-5.500',
} as const;

/** The name of a shape. */
export type IconName = keyof typeof SHAPES;

/** A small picture beside words that say the same. */
export function Icon({ name }: { name: IconName }): VNode {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path
        d={SHAPES[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.8"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
