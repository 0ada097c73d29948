import type { AccountId, TemplateId } from '../foundation/ids.ts';
import { SizedMemory } from '../foundation/sized-memory.ts';
import type { SendRequest } from './send-request.ts';

/** As long as the notes of calls may be behind (`template-call-store.ts`). */
const notedMilliseconds = 10 * 60 * 1_000;
const mostCalls = 10_000;
/** A call with longer names is always new: what callers invent takes 20 MB at most. */
const longestCall = 1_000;

/** In what way a request calls its template. */
export interface Call {
  /** Account and template. */
  readonly template: string;
  /** Account, template, and the names of what it gives. */
  readonly text: string;
  readonly shape: CallShape;
}

/** What a request gives its template, by name. */
interface CallShape {
  readonly names: readonly string[];
  readonly subjectLine: boolean;
  readonly previewText: boolean;
}

type CallingRequest = Pick<SendRequest, 'values' | 'subjectLine' | 'previewText'>;

/**
 * The calls of templates that messages of this process were stored with lately. Such a message says that its call is new,
 * so that a follower notes it; those that follow within minutes say that it is not, and cost the follower nothing. A process
 * that ends forgets what it knew, and says more often than it must that a call is new.
 */
export class NotedCalls {
  readonly #now: () => number;
  /** When each was stored, by the monotonic clock. */
  readonly #stored: SizedMemory<number>;
  /** Of each template, the one that was stored last: most requests are like the one before, which is quickly seen. */
  readonly #last: SizedMemory<{ readonly shape: CallShape; readonly storedAt: number }>;

  /** @param now milliseconds of a monotonic clock @param most calls that are remembered; past it those go that were not asked for longest */
  constructor(now: () => number = () => performance.now(), most = mostCalls) {
    this.#now = now;
    this.#stored = new SizedMemory(most);
    this.#last = new SizedMemory(most);
  }

  /** @returns the call of a request, where no message with it was stored lately */
  newCall(accountId: AccountId, templateId: TemplateId, request: CallingRequest): Call | undefined {
    // Neither id has a space.
    const template = `${accountId} ${templateId}`;
    const last = this.#last.get(template);
    if (last !== undefined && this.#isRecent(last.storedAt) && hasShape(request, last.shape))
      return undefined;
    const shape: CallShape = {
      names: Object.keys(request.values),
      subjectLine: request.subjectLine !== undefined,
      previewText: request.previewText !== undefined,
    };
    // In JSON no name can pass for two.
    const text = `${template} ${JSON.stringify(shape)}`;
    const storedAt = this.#stored.get(text);
    return storedAt !== undefined && this.#isRecent(storedAt)
      ? undefined
      : { template, text, shape };
  }

  /** To be told once a message that says that its call is new is committed. */
  stored({ template, text, shape }: Call): void {
    if (text.length > longestCall) return;
    const storedAt = this.#now();
    this.#stored.set(text, storedAt, 1);
    this.#last.set(template, { shape, storedAt }, 1);
  }

  #isRecent(storedAt: number): boolean {
    return this.#now() - storedAt < notedMilliseconds;
  }
}

function hasShape({ values, subjectLine, previewText }: CallingRequest, shape: CallShape): boolean {
  if ((subjectLine !== undefined) !== shape.subjectLine) return false;
  if ((previewText !== undefined) !== shape.previewText) return false;
  let count = 0;
  for (const name in values) {
    if (name !== shape.names[count]) return false;
    count += 1;
  }
  return count === shape.names.length;
}
