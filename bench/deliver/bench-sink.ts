import { fork } from 'node:child_process';
import { join } from 'node:path';

export interface BenchSink {
  readonly port: number;
  /** Messages taken since it started. */
  taken(): number;
  /** Resolves once it took so many. */
  reaches(count: number): Promise<void>;
  stop(): void;
}

/** Starts the fast sink in a process of its own. */
export async function startBenchSink(): Promise<BenchSink> {
  const child = fork(join(import.meta.dirname, 'fast-sink.ts'), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  let taken = 0;
  const watchers = new Set<() => void>();
  const port = await new Promise<number>((resolve) => {
    child.on('message', (message: { port?: number; taken?: number }) => {
      if (message.port !== undefined) resolve(message.port);
      if (message.taken === undefined) return;
      taken = message.taken;
      for (const watch of watchers) watch();
    });
  });
  return {
    port,
    taken: () => taken,
    reaches: (count) =>
      new Promise((resolve) => {
        const watch = (): void => {
          if (taken < count) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
      }),
    stop: () => child.disconnect(),
  };
}
