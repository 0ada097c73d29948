import { fork } from 'node:child_process';
import { join } from 'node:path';

export interface ChaosSink {
  readonly port: number;
  /** How often each message came. */
  readonly received: ReadonlyMap<string, number>;
  /** No faults from now on. */
  behave(): void;
  stop(): void;
}

/** Starts the rough sink in a process of its own. */
export async function startChaosSink(): Promise<ChaosSink> {
  const child = fork(join(import.meta.dirname, 'rough-sink.ts'), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const received = new Map<string, number>();
  const port = await new Promise<number>((resolve) => {
    child.on('message', (message: { port?: number; received?: string }) => {
      if (message.port !== undefined) resolve(message.port);
      const { received: id } = message;
      if (id !== undefined) received.set(id, (received.get(id) ?? 0) + 1);
    });
  });
  return {
    port,
    received,
    behave: () => child.send('behave'),
    stop: () => child.disconnect(),
  };
}
