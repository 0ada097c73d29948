import { type Static, Type } from 'typebox';
import {
  Flag,
  Nullable,
  OpenObject,
  StringMap,
  Text,
  Time,
  Uuid,
  Whole,
} from '../../base/values/common-schemas.ts';
import type { Wire } from '../../base/values/wire.ts';
import { storedEventKinds } from './event-kinds.ts';
import { messageStateNames } from './message-state.ts';
import { pausedScopes } from './message-status-store.ts';

export const MessageStateSchema = Type.Enum(messageStateNames);

/** A recipient in the message's public view. */
export const recipientFields = {
  address: Nullable(Type.String()),
  role: Type.Enum(['to', 'cc', 'bcc']),
  state: MessageStateSchema,
  at: Time('When the state last changed.'),
};

/** The public view of a message, shared by the contract and the management API. */
export const messageFields = {
  messageId: Uuid,
  templateId: Type.String(),
  templateVersion: Whole('Negative for a test message of a draft.'),
  state: MessageStateSchema,
  stateAt: Time('When the state last changed.'),
  acceptedAt: Time('When it was accepted.'),
  transactional: Type.Boolean(),
  test: Flag('Whether it is a test message, sent with a test key.'),
  externalId: Nullable(Type.String()),
  tag: Nullable(Type.String()),
  locale: Nullable(Text('The locale of the request; null if it had none or it was erased.')),
  attributes: StringMap('The attributes of the request; empty once erased.'),
  trackOpens: Type.Boolean(),
  trackClicks: Type.Boolean(),
  deliveryWhenDelayed: Type.Enum(['TRUE', 'FALSE']),
  recipients: Type.Array(Type.Object(recipientFields)),
  suppressedRecipients: Type.Array(Type.String()),
  nextAttempt: Nullable(
    Type.Object({
      at: Nullable(Time('When the next attempt is due; null if it is held for review.')),
      reason: Text('Why it is waiting.'),
      paused: Nullable(
        Type.Enum([...pausedScopes], {
          description: 'What is paused: the message, mail to its domain, or all mail.',
        }),
      ),
    }),
  ),
  events: Type.Array(
    Type.Object({
      at: Time('When it happened.'),
      kind: Type.Enum(storedEventKinds),
      recipient: Nullable(Whole('0: To; 1 and up: Cc, then Bcc; null: the whole message.')),
      detail: Type.Unknown(),
    }),
  ),
};

/** The 200 of the contract's message operation. */
export const MessageStatusSchema = OpenObject('MessageStatus', {
  success: Type.Literal(true),
  ...messageFields,
});

/** The message's public view, before JSON serialization. */
export type MessageStatusView = Wire<Static<typeof MessageStatusSchema>>;
