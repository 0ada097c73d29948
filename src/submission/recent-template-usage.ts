import type { AccountId, TemplateId } from '../foundation/ids.ts';
import { SizeLimitedCache } from '../foundation/size-limited-cache.ts';
import type { ParsedSendRequest } from './send-request.ts';

/** As long as the notes of calls may be behind (`template-call-store.ts`). */
const recentMs = 10 * 60 * 1_000;
const maxUsages = 10_000;
/** A call with longer names is always new: what callers invent takes 20 MB at most. */
const maxUsageCharacters = 1_000;

/** In what way a request calls its template. */
export interface UsageRecord {
  /** Account and template. */
  readonly template: string;
  /** Account, template, and the names of what it gives. */
  readonly text: string;
  readonly shape: UsageShape;
}

/** What a request gives its template, by name. */
interface UsageShape {
  readonly names: readonly string[];
  readonly subjectLine: boolean;
  readonly previewText: boolean;
}

type TemplateRequest = Pick<ParsedSendRequest, 'values' | 'subjectLine' | 'previewText'>;

/**
 * The calls of templates that messages of this process were stored with lately. Such a message says that its call is new,
 * so that a follower notes it; those that follow within minutes say that it is not, and cost the follower nothing. A process
 * that ends forgets what it knew, and says more often than it must that a call is new.
 */
export class RecentTemplateUsage {
  readonly #now: () => number;
  /** When each was stored, by the monotonic clock. */
  readonly #stored: SizeLimitedCache<number>;
  /** Of each template, the one that was stored last: most requests are like the one before, which is quickly seen. */
  readonly #last: SizeLimitedCache<{ readonly shape: UsageShape; readonly storedAt: number }>;

  /** @param now milliseconds of a monotonic clock @param max calls that are remembered; past it those go that were not asked for longest */
  constructor(now: () => number = () => performance.now(), max = maxUsages) {
    this.#now = now;
    this.#stored = new SizeLimitedCache(max);
    this.#last = new SizeLimitedCache(max);
  }

  /** @returns the call of a request, where no message with it was stored lately */
  findNewUsage(
    accountId: AccountId,
    templateId: TemplateId,
    request: TemplateRequest,
  ): UsageRecord | undefined {
    // Neither id has a space.
    const template = `${accountId} ${templateId}`;
    const last = this.#last.get(template);
    if (last !== undefined && this.#isRecent(last.storedAt) && hasShape(request, last.shape))
      return undefined;
    const shape: UsageShape = {
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
  record({ template, text, shape }: UsageRecord): void {
    if (text.length > maxUsageCharacters) return;
    const storedAt = this.#now();
    this.#stored.set(text, storedAt, 1);
    this.#last.set(template, { shape, storedAt }, 1);
  }

  #isRecent(storedAt: number): boolean {
    return this.#now() - storedAt < recentMs;
  }
}

function hasShape(
  { values, subjectLine, previewText }: TemplateRequest,
  shape: UsageShape,
): boolean {
  if ((subjectLine !== undefined) !== shape.subjectLine) return false;
  if ((previewText !== undefined) !== shape.previewText) return false;
  let count = 0;
  for (const name in values) {
    if (name !== shape.names[count]) return false;
    count += 1;
  }
  return count === shape.names.length;
}
