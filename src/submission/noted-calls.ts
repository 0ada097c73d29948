import type { AccountId, TemplateId } from '../foundation/ids.ts';
import { SizedMemory } from '../foundation/sized-memory.ts';
import type { SendRequest } from './send-request.ts';

/** As long as the notes of calls may be behind (`template-call-store.ts`). */
const notedMilliseconds = 10 * 60 * 1_000;
const mostCalls = 10_000;
/** A call with longer names is always new: what callers invent takes 20 MB at most. */
const longestCall = 1_000;

/** In what way a request calls its template: account, template, and names of what it gives. */
type Call = string;

/**
 * The calls of templates that messages of this process were stored with lately. Such a message says that its call is new,
 * so that a follower notes it; those that follow within minutes say that it is not, and cost the follower nothing. A process
 * that ends forgets what it knew, and says more often than it must that a call is new.
 */
export class NotedCalls {
  readonly #now: () => number;
  /** When each was stored, by the monotonic clock. */
  readonly #stored: SizedMemory<number>;

  /** @param now milliseconds of a monotonic clock @param most calls that are remembered; past it those go that were not asked for longest */
  constructor(now: () => number = () => performance.now(), most = mostCalls) {
    this.#now = now;
    this.#stored = new SizedMemory(most);
  }

  /** @returns the call of a request, where no message with it was stored lately */
  newCall(
    accountId: AccountId,
    templateId: TemplateId,
    {
      values,
      subjectLine,
      previewText,
    }: Pick<SendRequest, 'values' | 'subjectLine' | 'previewText'>,
  ): Call | undefined {
    // Neither id has a space; in JSON no name can pass for two.
    const own = `${subjectLine === undefined ? '-' : 's'}${previewText === undefined ? '-' : 'p'}`;
    const call = `${accountId} ${templateId} ${own} ${JSON.stringify(Object.keys(values))}`;
    const stored = this.#stored.get(call);
    return stored !== undefined && this.#now() - stored < notedMilliseconds ? undefined : call;
  }

  /** To be told once a message that says that its call is new is committed. */
  stored(call: Call): void {
    if (call.length > longestCall) return;
    this.#stored.set(call, this.#now(), 1);
  }
}
