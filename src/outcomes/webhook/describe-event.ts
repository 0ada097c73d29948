import { Type } from 'typebox';
import type { Permission } from '../../accounts/access/permission.ts';
import {
  NamedObject,
  Nullable,
  Text,
  Time,
  Uuid,
  Whole,
} from '../../base/values/common-schemas.ts';
import type { Wire } from '../../base/values/wire.ts';
import { type EventKind, eventKinds } from '../../content/message/event-kinds.ts';
import type { AccountEvent } from './account-event-store.ts';
import type { WebhookEnvelope } from './webhook-format.ts';

const anyObject = (description: string) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', description });

/** Members of the body of a webhook (Standard Webhooks: type, timestamp, data). */
export const eventFields = {
  type: Text('The kind of the event, such as `message.delivered`.'),
  timestamp: Time('When it happened.'),
  data: NamedObject('EventData', {
    eventId: Uuid,
    messageId: Uuid,
    externalId: Nullable(
      Text('Null, like `tag`, for a webhook that was last saved by a key without `messages:read`.'),
    ),
    templateId: Nullable(Type.String()),
    tag: Nullable(Type.String()),
    test: Type.Optional(
      Type.Literal(true, { description: 'The message is a test message, sent with a test key.' }),
    ),
    attributes: Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description:
        'Those of the message; none for a webhook that was last saved by a key without `messages:read`.',
    }),
    recipient: Nullable(Whole('0 is To, the others count the Cc addresses from 1.')),
    address: Nullable(
      Text(
        'The recipient; null once personal data is erased, and for a webhook that was last saved by a key without `messages:read` and `messages:status`.',
      ),
    ),
    detail: anyObject('More about events of this kind.'),
  }),
};

const EventSchema = Type.Object(eventFields);

interface Attributes extends Pick<AccountEvent, 'address' | 'externalId' | 'tag' | 'attributes'> {
  readonly envelope?: WebhookEnvelope | null;
}

/** The event as an endpoint may get it: without what the person or key that saved the endpoint last can't read. */
export function asReadableBy<Event extends Attributes>(
  { permissions }: { readonly permissions: ReadonlySet<Permission> },
  event: Event,
): Event {
  if (permissions.has('messages:read')) return event;
  const address = permissions.has('messages:status') ? event.address : null;
  return { ...event, address, externalId: null, tag: null, attributes: null, envelope: null };
}

/** The body of an event's webhook. */
export function describeEvent(
  event: Omit<AccountEvent, 'position'>,
): Wire<Type.Static<typeof EventSchema>> {
  return {
    type: eventTypeOf(event.kind),
    timestamp: event.at.toISOString(),
    data: {
      eventId: event.eventId,
      messageId: event.messageId,
      externalId: event.externalId,
      templateId: event.templateId,
      tag: event.tag,
      ...(event.test === true && { test: true }),
      attributes: event.attributes ?? {},
      recipient: event.recipient,
      address: event.address,
      detail: event.detail,
    },
  };
}

/** The body of an event of our own format with the reply that it is about, which is null if it can't be read. */
export function withReply(body: object, reply: object | null): object {
  const { data } = body as { data: object };
  return { ...body, data: { ...data, reply } };
}

/** Also names kinds without webhooks, and those that only another release knows. */
function eventTypeOf(kind: EventKind): string {
  return eventKinds[kind]?.webhook ?? `message.${kind}`;
}
