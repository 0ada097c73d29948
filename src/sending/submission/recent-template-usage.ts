import { SizeLimitedCache } from '../../base/database/cache.ts';
import type { AccountId, TemplateId } from '../../base/values/ids.ts';
import { usageNames } from '../../content/template/usage-names.ts';
import type { ParsedSendRequest } from './send-request.ts';

/** Max lag of recorded template usage (`template-usage-store.ts`). */
const recentMs = 10 * 60 * 1_000;
const maxUsages = 10_000;
/** Longer records always count as new, which caps memory for caller-chosen names at 20 MB. */
const maxUsageCharacters = 1_000;

/** How a request uses its template. */
export interface UsageRecord {
  /** Account and template. */
  readonly template: string;
  /** Account, template and the names of the given values. */
  readonly text: string;
  readonly shape: UsageShape;
}

/** Names of the values a request gives its template, those of items included. */
interface UsageShape {
  readonly names: readonly string[];
  readonly subjectLine: boolean;
  readonly previewText: boolean;
}

type TemplateRequest = Pick<ParsedSendRequest, 'values' | 'subjectLine' | 'previewText'> &
  Partial<Pick<ParsedSendRequest, 'structured'>>;

/**
 * Remembers how templates were used recently, so that followers only process messages that use one in a new way. A restart
 * only marks some usage as new again.
 */
export class RecentTemplateUsage {
  readonly #now: () => number;
  /** When each was stored, in monotonic time. */
  readonly #stored: SizeLimitedCache<number>;
  /** Last stored usage per template; a fast path, since most requests repeat the previous one. */
  readonly #last: SizeLimitedCache<{ readonly shape: UsageShape; readonly storedAt: number }>;

  /**
   * @param now monotonic time in milliseconds
   * @param max records to keep; least recently used ones are evicted
   */
  constructor(now: () => number = () => performance.now(), max = maxUsages) {
    this.#now = now;
    this.#stored = new SizeLimitedCache(max);
    this.#last = new SizeLimitedCache(max);
  }

  /** @returns the request's usage if no message with the same usage was stored recently */
  findNewUsage(
    accountId: AccountId,
    templateId: TemplateId,
    request: TemplateRequest,
  ): UsageRecord | undefined {
    // Neither id contains a space.
    const template = `${accountId} ${templateId}`;
    const last = this.#last.get(template);
    const { structured = false } = request;
    if (
      last !== undefined &&
      !structured &&
      this.#isRecent(last.storedAt) &&
      hasShape(request, last.shape)
    )
      return undefined;
    const shape: UsageShape = {
      names: structured ? usageNames(request.values) : Object.keys(request.values),
      subjectLine: request.subjectLine !== undefined,
      previewText: request.previewText !== undefined,
    };
    // JSON keeps names unambiguous.
    const text = `${template} ${JSON.stringify(shape)}`;
    const storedAt = this.#stored.get(text);
    return storedAt !== undefined && this.#isRecent(storedAt)
      ? undefined
      : { template, text, shape };
  }

  /** Call once a message with new usage is committed. */
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
