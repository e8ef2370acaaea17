import process from 'node:process';

import { Follower } from './follower.ts';
import { inParallel } from './in-parallel.ts';
import type { FromReaders, ReaderOrder, ToReaders } from './protocol.ts';

/** A process of readers, which follow sessions as their parent says. */
const followers = new Map<number, Follower>();

const tell = (message: FromReaders): void => {
  process.send?.(message);
};

/** Connections that are opened side by side. */
const WIDTH = 16;

function newFollower(order: ReaderOrder): Follower {
  const follower = new Follower(order, tell);
  followers.set(order.index, follower);
  return follower;
}

async function obey(order: ToReaders): Promise<void> {
  switch (order.kind) {
    case 'follow':
      await inParallel(order.readers.map(newFollower), WIDTH, (one) => one.open(order.address));
      tell({ kind: 'following' });
      break;
    case 'expect':
      for (const plan of order.plans) followers.get(plan.index)?.expect(plan);
      tell({ kind: 'expecting' });
      break;
    case 'resume':
      for (const follower of followers.values()) {
        if (follower.order.stalls) follower.resume();
      }
      break;
    case 'leave':
      await Promise.all([...followers.values()].map((follower) => follower.leave()));
      followers.clear();
      tell({ kind: 'left' });
      break;
    default:
      order satisfies never;
  }
}

process.on('message', (order: ToReaders) => void obey(order)); // a rejection ends the process
process.on('disconnect', () => {
  process.exit();
});
