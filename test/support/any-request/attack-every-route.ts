import { Agent } from 'node:http';
import fc from 'fast-check';
import { type AnyRequest, anyRequest, routeLines } from './any-request.ts';
import { exchangeRequest, isWellFramed } from './exchange-request.ts';
import type { CallerName, HostileScene } from './hostile-scene.ts';
import { requireSoundAnswer } from './require-sound-answer.ts';

/** The key comes most often, because most routes do something for it in its own account. */
const callers: readonly CallerName[] = [
  'stranger',
  'key',
  'viewer',
  'key',
  'token',
  'key',
  'viewer',
];

export interface RouteAttack {
  readonly seed: number;
  readonly requests: number;
  readonly clients: number;
  /** Stops after this many failures; failures that differ only in IDs count once. */
  readonly maxFailures?: number;
  readonly onProgress?: (sent: number, statuses: Readonly<Record<string, number>>) => void;
  readonly shouldStop?: () => boolean;
}

export interface AttackResult {
  readonly sent: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** One line per kind of invalid response, with the seed that reproduces it. */
  readonly failures: readonly string[];
}

/** Requests of one route that are generated at once. */
const batch = 8;

/** Sends requests of every shape to every route, as each caller in turn. */
export async function attackEveryRoute(
  scene: HostileScene,
  attack: RouteAttack,
): Promise<AttackResult> {
  const { seed, requests, clients, maxFailures = 20 } = attack;
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const shapes = routeLines.map((line) => anyRequest(line, scene.names));
  const statuses: Record<string, number> = {};
  const failures = new Map<string, string>();
  let scheduled = 0;
  let sent = 0;
  const work = async (): Promise<void> => {
    while (scheduled < requests && failures.size < maxFailures && !attack.shouldStop?.()) {
      const round = scheduled / batch;
      scheduled += batch;
      const at = round % shapes.length;
      const shape = shapes[at];
      if (shape === undefined) return;
      for (const outgoing of fc.sample(shape, { seed: seed + round, numRuns: batch })) {
        const caller = callers[(sent + round) % callers.length] ?? 'stranger';
        await attempt(outgoing, caller, seed + round);
        sent += 1;
        if (sent % 10_000 === 0) attack.onProgress?.(sent, statuses);
      }
    }
  };
  const attempt = async (outgoing: AnyRequest, caller: CallerName, from: number): Promise<void> => {
    const headers = {
      'x-forwarded-for': attackerNetwork(sent),
      ...scene.callerHeaders(caller, outgoing),
    };
    try {
      const response = await exchangeRequest(scene.url, outgoing, headers, agent);
      const status = String(response?.status ?? 'none');
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (response !== undefined && (isWellFramed(outgoing) || response.status >= 500))
        requireSoundAnswer(outgoing, response);
    } catch (error) {
      const { message } = error as Error;
      const { method, line } = outgoing;
      const [what] = message.split(': ');
      failures.set(
        `${what} ${method} ${line.limit.path}`,
        `${line.method} ${line.limit.path} as ${caller}, seed ${from}: ${message}\n${describe(outgoing)}`,
      );
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
  agent.destroy();
  return { sent, statuses, failures: [...failures.values()] };
}

/** Strangers come from many networks, so that each rarely hits the per-peer limits. */
function attackerNetwork(sent: number): string {
  return `10.${(sent >> 12) & 255}.${(sent >> 4) & 255}.1`;
}

function describe({ target, headers, body, framing }: AnyRequest): string {
  const bytes = body?.bytes();
  const start = bytes?.subarray(0, 300).toString('latin1');
  return `  ${target.slice(0, 200)} ${JSON.stringify(headers).slice(0, 200)} ${framing} ${body?.type} ${bytes?.length}: ${start}`;
}
