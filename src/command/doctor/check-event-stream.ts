import type { NatsTarget } from '../../webhook/event-stream/nats-target.ts';
import type { Diagnosis } from './doctor-context.ts';

/** Checks that the NATS server accepts events. */
export async function checkEventStream(nats: NatsTarget): Promise<Diagnosis> {
  const servers = nats.servers.join(', ');
  try {
    const { checkNats } = await import('../../webhook/event-stream/nats-stream.ts');
    await checkNats(nats);
    return { ok: true, finding: `published to NATS at ${servers}` };
  } catch (error) {
    return {
      ok: false,
      finding: `the NATS server ${servers} accepts no events: ${(error as Error).message}`,
      advice:
        'Check NATS_URL, that the server is reachable, and that JetStream is on for the user. Until then, events wait in the database.',
    };
  }
}
