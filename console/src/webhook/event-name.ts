import { textOr } from '../texts/text.ts';

/** The display name of a webhook event. */
export function eventName(kind: string): string {
  return textOr(`webhooks.kind.${kind}`, textOr(`state.${kind}`, kind));
}
