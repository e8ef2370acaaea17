import diagnostics from 'node:diagnostics_channel';
import { readdirSync, readlinkSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';

import type { Measurement, Usage } from './protocol.ts';

const SAMPLE_MS = 50;
const GARBAGE_MS = 20;

/** Watches this process, a server of the sessions in `folder`; gives what measures it. */
export function watchProcess(folder: string): () => Promise<Measurement> {
  const streams = watchStreams();
  const late = monitorEventLoopDelay({ resolution: 10 });
  late.enable();
  let cpu = process.cpuUsage();
  let peak = usage(streams);
  setInterval(() => {
    peak = mostOf(peak, usage(streams));
  }, SAMPLE_MS).unref();
  return async () => {
    peak = mostOf(peak, usage(streams));
    await collectGarbage();
    const { user, system } = process.cpuUsage(cpu);
    const now = usage(streams);
    const cpuMs = (user + system) / 1000;
    const lateMs = late.percentile(99) / 1e6;
    const measurement = { now, peak, ...descriptors(folder), cpuMs, lateMs };
    late.reset();
    cpu = process.cpuUsage();
    peak = now;
    return measurement;
  };
}

/** Twice, with a pause: buffers of what was collected are let go of on the side. */
async function collectGarbage(): Promise<void> {
  for (let time = 0; time < 2; time += 1) {
    globalThis.gc?.();
    await pause(GARBAGE_MS);
  }
}

/** The responses that are streams of events, for as long as their sockets are open. */
function watchStreams(): Set<ServerResponse> {
  const streams = new Set<ServerResponse>();
  diagnostics.subscribe('http.server.request.start', (message) => {
    const { request, response } = message as {
      request: IncomingMessage;
      response: ServerResponse;
    };
    if (request.url?.includes('/events') !== true) return;
    streams.add(response);
    response.on('close', () => streams.delete(response));
  });
  return streams;
}

function usage(streams: ReadonlySet<ServerResponse>): Usage {
  const { rss, heapUsed: heap, arrayBuffers } = process.memoryUsage();
  let queued = 0;
  for (const { writableLength } of streams) queued = Math.max(queued, writableLength);
  return { rss, heap, arrayBuffers, queued };
}

const mostOf = (a: Usage, b: Usage): Usage => ({
  rss: Math.max(a.rss, b.rss),
  heap: Math.max(a.heap, b.heap),
  arrayBuffers: Math.max(a.arrayBuffers, b.arrayBuffers),
  queued: Math.max(a.queued, b.queued),
});

function descriptors(folder: string): Pick<Measurement, 'sockets' | 'logs' | 'others'> {
  const open = { sockets: 0, logs: 0, others: 0 };
  for (const target of descriptorTargets()) {
    if (target.startsWith('socket:')) open.sockets += 1;
    else if (target.startsWith(folder)) open.logs += 1;
    else open.others += 1;
  }
  return open;
}

function descriptorTargets(): string[] {
  const folder = '/proc/self/fd';
  try {
    return readdirSync(folder).flatMap((name) => {
      try {
        return readlinkSync(`${folder}/${name}`);
      } catch {
        return []; // the one that the folder was read with
      }
    });
  } catch {
    return [];
  }
}
