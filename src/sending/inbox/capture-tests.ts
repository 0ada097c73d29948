import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import type { Reply } from '../delivery/reply.ts';
import {
  admitAlways,
  type SendMail,
  type Transport,
  withoutServer,
} from '../delivery/transport.ts';
import type { InboxArrivals } from './inbox-arrivals.ts';
import type { InboxStore } from './inbox-store.ts';
import { parseMail } from './parse-mail.ts';

interface CaptureDependencies {
  readonly store: Pick<InboxStore, 'add' | 'trimTests'>;
  /** Undefined if mail isn't captured otherwise. */
  readonly arrivals: Pick<InboxArrivals, 'announce'> | undefined;
  readonly log: Log;
}

const stored: Reply = { code: 250, enhanced: '2.0.0', text: 'stored in the inbox' };
const unavailable: Reply = {
  code: 451,
  enhanced: '4.3.0',
  text: 'the inbox can’t store mail right now',
};

/** The transport of test messages: the inbox of their account, without a way out. */
export function captureTests({ store, arrivals, log }: CaptureDependencies): Transport {
  const send: SendMail = async (mail, releaseDot, stopping) => {
    if (stopping.aborted) return withoutServer({ kind: 'stopped' }, 'inbox');
    const accountId = mail.group as AccountId;
    const { from: envelopeFrom, to, raw: source } = mail;
    const answer = (reply: Reply) =>
      withoutServer({ kind: 'reply', stage: 'final', reply }, 'inbox');
    try {
      const content = await parseMail(source, { group: accountId, patient: true });
      if (!(await releaseDot())) return withoutServer({ kind: 'lost' }, 'inbox');
      const envelopeTo = [to];
      const id = await store.add({
        accountId,
        envelopeFrom,
        envelopeTo,
        test: true,
        source,
        ...content,
      });
      arrivals?.announce({ id, envelopeTo });
      await store.trimTests(accountId);
      return answer(stored);
    } catch (error) {
      log.warn({ err: error }, 'could not store a test message in the inbox');
      return answer(unavailable);
    }
  };
  return {
    admit: async () => admitAlways(send),
    drop: () => undefined,
    close: async () => undefined,
  };
}
