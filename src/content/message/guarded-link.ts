import type { MasterKey } from '../../base/secrets/master-key.ts';
import { SealedTokens } from '../../base/secrets/sealed-tokens.ts';
import {
  ByteReader,
  readMessage,
  type TrackedMessage,
  writeMessage,
} from '../../base/values/byte-fields.ts';
import type { FieldValue, GivenValues } from '../template/field-value.ts';
import { asciiTarget, maxTargetLength } from '../template/guarded-field.ts';
import type { MessageContent } from './message-content.ts';

/** All data of a guarded link; there is no table row behind it. */
export interface GuardedLink extends TrackedMessage {
  readonly field: string;
  /** How many days it works, from the acceptance or send time. */
  readonly days: number;
  /** Those that its page may be in (BCP 47), the best first, separated by commas. */
  readonly locales: string;
  /** Where its button leads. */
  readonly target: string;
}

/** Fields, account ID and locale have limits of their own. */
const maxTokenLength = maxTargetLength * 2 + 2_000;

/** Max characters of the host in a link to this service (RFC 1035 section 2.3.4). */
const maxHostLength = 255;

type GuardedContent = Pick<MessageContent, 'values' | 'guarded'>;

/**
 * Replaces the values of guarded fields by tokens, in which their targets are encrypted. The same message, field and target have
 * the same token under the key that is current at acceptance, and every attempt sends the stored one.
 */
export class GuardedLinks {
  readonly #tokens: SealedTokens;

  constructor(key: MasterKey) {
    this.#tokens = new SealedTokens(
      key.keysFor('guarded link cipher'),
      key.keysFor('guarded link hash'),
      maxTokenLength,
    );
  }

  /**
   * The values of a new message.
   * @param guards of its version: how many days the links of each field work
   * @param locales for the page, the best first
   */
  seal(
    message: TrackedMessage,
    guards: Readonly<Record<string, number>>,
    locales: readonly (string | undefined)[],
    values: GivenValues,
  ): GuardedContent {
    const ranges = locales.join(',');
    return replaceTexts(values, Object.keys(guards), (target, field) => {
      const days = guards[field] ?? 0;
      return this.#make({ ...message, field, days, locales: ranges, target: asciiTarget(target) });
    });
  }

  /** The values of a message that is sent anew: its links are that message's. */
  sealAgain(message: TrackedMessage, { values, guarded }: GuardedContent): Partial<GuardedContent> {
    if (guarded === undefined) return {};
    return replaceTexts(values, guarded, (token) => {
      const link = this.read(token);
      return link === undefined ? token : this.#make({ ...link, ...message });
    });
  }

  /** Values of the length that those of the mail will have, to find out how large it becomes. */
  standIns(guards: Readonly<Record<string, number>>, values: GivenValues): GivenValues {
    const none = { accountId: '0'.repeat(64), messageId: '0'.repeat(32), retentionDays: 1 };
    const { values: sealed } = this.seal(none as TrackedMessage, guards, [], values);
    return linkValues('h'.repeat(maxHostLength), { values: sealed, guarded: Object.keys(guards) });
  }

  #make(link: GuardedLink): string {
    const { field, days, locales, target } = link;
    const content = writeMessage(link).text(field).number(days).text(locales).text(target);
    return this.#tokens.make(content.finish());
  }

  /** A token's data; undefined if it wasn't made here. Safe for untrusted input. */
  read(token: string): GuardedLink | undefined {
    const content = this.#tokens.read(token);
    if (content === undefined) return undefined;
    const reader = new ByteReader(content);
    return {
      ...readMessage(reader),
      field: reader.text(),
      days: reader.number(),
      locales: reader.text(),
      target: reader.text(),
    };
  }
}

/** Where the pages of guarded links are; a token follows. */
export const guardedLinkPath = '/g/';

/** The values of a message's mail: links in place of tokens. @param base URL of this service without a trailing slash */
export function linkValues(base: string, { values, guarded = [] }: GuardedContent): GivenValues {
  return replaceTexts(values, guarded, (token) => `${base}${guardedLinkPath}${token}`).values;
}

/** An empty value stays: the message has no such link. */
function replaceTexts(
  values: GivenValues,
  fields: readonly string[],
  replace: (text: string, field: string) => string,
): { readonly values: GivenValues; readonly guarded?: readonly string[] } {
  const replaced: Record<string, FieldValue> = {};
  for (const field of fields) {
    const value = Object.hasOwn(values, field) ? values[field] : undefined;
    if (typeof value === 'string' && value !== '') replaced[field] = replace(value, field);
  }
  const guarded = Object.keys(replaced);
  return guarded.length === 0 ? { values } : { values: { ...values, ...replaced }, guarded };
}
