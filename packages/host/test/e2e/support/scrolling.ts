import type { Page, Route } from 'playwright-core';

const SCROLLER = `document.querySelector('[role=region]')`;

/** A turn that is seen, and how far from the top, in pixels. */
export interface Place {
  readonly turn: string;
  readonly top: number;
}

/** Scrolls near the beginning of what is loaded, which asks for what was before it. */
export async function scrollUp(page: Page): Promise<void> {
  await page.evaluate(`${SCROLLER}.scrollTop = 300`);
}

/** The first turn that is seen, once nothing has moved for some frames. */
export function settledPlace(page: Page): Promise<Place> {
  return page.evaluate<Place>(`new Promise((resolve) => {
    const seen = () => {
      const { top, left, width } = ${SCROLLER}.getBoundingClientRect();
      const turn = document.elementsFromPoint(left + width / 2, top + 100)
        .map((element) => element.closest('[data-turn]')).find((found) => found !== null);
      return turn && { turn: turn.dataset.turn, top: turn.getBoundingClientRect().top };
    };
    let [last, frames] = ['', 0];
    const look = () => {
      const place = seen();
      const now = JSON.stringify(place);
      frames = place && now === last ? frames + 1 : 0;
      last = now;
      if (frames === 5) resolve(place);
      else requestAnimationFrame(look);
    };
    look();
  })`);
}

/** How far from the top a turn is when older rows have come in above it and all has settled. */
export function topOnceGrown(page: Page, turn: string, turnsBefore: number): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const look = () => {
      const hasGrown = document.querySelectorAll('[data-turn]').length > ${String(turnsBefore)};
      if (!hasGrown || ${SCROLLER}.classList.contains('held')) requestAnimationFrame(look);
      else resolve(document.querySelector('[data-turn="${turn}"]').getBoundingClientRect().top);
    };
    look();
  })`);
}

/** Scrolls to the beginning of all, whatever has to be loaded for that. */
export async function scrollToFirst(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const look = () => {
      ${SCROLLER}.scrollTop = 0;
      if (document.querySelector('.content > .hint') === null) resolve(null);
      else requestAnimationFrame(look);
    };
    look();
  })`);
}

/** How far the reader is from the end, in pixels. */
export const fromEnd = (page: Page): Promise<number> =>
  page.evaluate<number>(
    `${SCROLLER}.scrollHeight - ${SCROLLER}.clientHeight - ${SCROLLER}.scrollTop`,
  );

/** Holds requests for older rows until the test lets them go. */
export class HeldPages {
  readonly #held: Route[] = [];
  #waiting: ((route: Route) => void) | null = null;
  #isFree = false;

  /** From the second request of the page on: without the first, nothing is shown. */
  async hold(page: Page): Promise<void> {
    let isFirst = true;
    await page.route('**/messages?before=*', async (route) => {
      if (isFirst || this.#isFree) {
        isFirst = false;
        await route.continue();
      } else if (this.#waiting === null) {
        this.#held.push(route);
      } else {
        this.#waiting(route);
        this.#waiting = null;
      }
    });
  }

  /** The next request that is held. */
  next(): Promise<Route> {
    const held = this.#held.shift();
    if (held !== undefined) return Promise.resolve(held);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** Holds nothing any longer. */
  async free(): Promise<void> {
    this.#isFree = true;
    await Promise.all(this.#held.splice(0).map((route) => route.continue()));
  }
}
