import { type SimulatedOutcome, simulatedOutcome } from '../../base/values/simulated-address.ts';
import type { Reply } from './reply.ts';
import {
  admitAlways,
  type TransactionEnd,
  type TransactionResult,
  type Transport,
  withoutServer,
} from './transport.ts';

const replies: Readonly<Record<SimulatedOutcome, Reply>> = {
  delivered: { code: 250, enhanced: '2.0.0', text: 'simulated: accepted' },
  complaint: { code: 250, enhanced: '2.0.0', text: 'simulated: accepted, a complaint follows' },
  bounce: { code: 550, enhanced: '5.1.1', text: 'simulated: no such user here' },
  suppressed: { code: 550, enhanced: '5.1.1', text: 'simulated: no such user here' },
  defer: { code: 451, enhanced: '4.3.0', text: 'simulated: try again later' },
};

/** Wraps a transport: mail to the reserved test domain is simulated, everything else is passed on. */
export function simulateOutcomes(transport: Transport): Transport {
  return {
    drop: () => transport.drop(),
    close: () => transport.close(),
    async admit(outline) {
      const outcome = simulatedOutcome(outline.to);
      return outcome === undefined
        ? await transport.admit(outline)
        : admitAlways(async () => resultOf(outcome));
    },
  };
}

function resultOf(outcome: SimulatedOutcome): TransactionResult {
  const reply = replies[outcome];
  const stage = reply.code === 250 ? 'final' : 'rcpt';
  const end: TransactionEnd = { kind: 'reply', stage, reply };
  return { ...withoutServer(end, 'simulator'), receiver: 'simulator' };
}
