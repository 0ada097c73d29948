import { textOr } from '../texts/text.ts';

/** What happened to a message, as webhooks are told of it, in words. */
export function eventName(kind: string): string {
  return textOr(`webhooks.kind.${kind}`, textOr(`state.${kind}`, kind));
}
