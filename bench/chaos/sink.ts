import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Weather } from './rough-weather.ts';

/** A message that the receiver took, for one recipient. */
export type Copy = `${string} ${string}`;

/** What the receiver tells: its port, or a message that it took and for whom. */
export interface SinkReport {
  readonly port?: number;
  readonly received?: string;
  readonly to?: readonly string[];
}

export interface ChaosSink {
  readonly port: number;
  /** How often each message came for each recipient, by `copyOf`. */
  readonly received: ReadonlyMap<Copy, number>;
  /** How it is from now on; undefined: as usual. */
  weather(weather: Weather | undefined): void;
  /** No faults from now on. */
  behave(): void;
  stop(): void;
}

export function copyOf(messageId: string, recipient: string): Copy {
  return `${messageId} ${recipient}`;
}

/** Starts the rough sink in a process of its own. */
export async function startChaosSink(): Promise<ChaosSink> {
  const child = fork(join(import.meta.dirname, 'rough-sink.ts'), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const received = new Map<Copy, number>();
  const port = await new Promise<number>((resolve) => {
    child.on('message', (report: SinkReport) => {
      if (report.port !== undefined) resolve(report.port);
      for (const recipient of report.to ?? []) {
        const copy = copyOf(report.received ?? '', recipient);
        received.set(copy, (received.get(copy) ?? 0) + 1);
      }
    });
  });
  return {
    port,
    received,
    weather: (weather) => child.send({ weather: weather ?? null }),
    behave: () => child.send('behave'),
    stop: () => child.disconnect(),
  };
}
