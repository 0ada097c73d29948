import { Type } from 'typebox';
import type { BodyJson } from '../../sending/submission/read-body-json.ts';
import { type DropInAnswer, DropInRefusal } from '../provider/drop-in.ts';
import { rename } from '../provider/drop-in-routes.ts';
import { MemberTable, mapped, refused, supported } from '../provider/members.ts';
import { type FormValue, readQueryForm } from './query-form.ts';
import { invalid, sendMembers, sendNames } from './ses-messages.ts';

const { members: own } = sendMembers[''];
const { members: template } = sendMembers['Content.Template'];
const Anything = Type.Unsafe<Readonly<Record<string, FormValue>>>({ type: 'object' });
const Addresses = own.ReplyToAddresses.schema;

const common = {
  Source: own.FromEmailAddress,
  Tags: own.EmailTags,
  ConfigurationSetName: own.ConfigurationSetName,
  SourceArn: own.FromEmailAddressIdentityArn,
  ReturnPathArn: own.FromEmailAddressIdentityArn,
};
const composed = {
  ...common,
  Destination: own.Destination,
  ReplyToAddresses: mapped(Addresses, 'needs verified senders'),
  ReturnPath: own.FeedbackForwardingEmailAddress,
};
const tables = {
  SendEmail: new MemberTable({ ...composed, Message: supported(Anything) }),
  SendRawEmail: new MemberTable({
    ...common,
    Destinations: supported(Addresses),
    RawMessage: mapped(
      Anything,
      `has \`Data\`, which ${sendMembers['Content.Raw'].members.Data.note}`,
    ),
    FromArn: refused(own.FromEmailAddressIdentityArn.note),
  }),
  SendTemplatedEmail: new MemberTable({
    ...composed,
    Template: template.TemplateName,
    TemplateData: template.TemplateData,
    TemplateArn: template.TemplateArn,
  }),
};

/** The forms of version 1 by their action. */
export const queryMembers: Readonly<Record<string, MemberTable>> = tables;

/** The members of version 1 by those of version 2. */
const ownNames = {
  FromEmailAddress: 'Source',
  EmailTags: 'Tags',
  Content: 'Message',
  'Content.Simple': 'Message',
  'Content.Raw': 'RawMessage',
  'Content.Template': 'Template',
  'Content.Template.TemplateName': 'Template',
  'Content.Template.TemplateData': 'TemplateData',
};

/** The members of version 1 by those of the send body and of version 2. */
export const queryNames: Readonly<Record<string, string>> = {
  ...ownNames,
  ...Object.fromEntries(
    Object.entries(sendNames).map(([name, member]) => [name, rename(member, ownNames)]),
  ),
};

interface QuerySend {
  readonly action: string;
  /** As the body of SendEmail in version 2. */
  readonly value: unknown;
  readonly contents?: BodyJson['contents'];
}

/** Where an empty text is an empty list. */
const lists = [
  'ReplyToAddresses',
  'Tags',
  'Destinations',
  'ToAddresses',
  'CcAddresses',
  'BccAddresses',
];

/**
 * Reads a form of version 1.
 * @throws DropInRefusal UNSUPPORTED_CALL or Fault VALIDATION_FAILED
 */
export async function readQuerySend(body: Buffer): Promise<QuerySend> {
  const { Action: action = '', Version: _, ...form } = await readQueryForm(body);
  const given = withoutEmptyLists(form);
  if (action === 'SendEmail') {
    const { Message, ...email } = tables.SendEmail.read(given);
    return { action, value: toSend(email, { Simple: Message ?? {} }) };
  }
  if (action === 'SendRawEmail') {
    const { RawMessage, Destinations, ...email } = tables.SendRawEmail.read(given);
    const data = RawMessage?.Data;
    const isLong = data instanceof Buffer;
    const Destination = Destinations && { ToAddresses: Destinations };
    const Raw = isLong ? { ...RawMessage, Data: action } : (RawMessage ?? {});
    const value = toSend({ ...email, Destination }, { Raw });
    return isLong ? { action, value, contents: new Map([[action, data]]) } : { action, value };
  }
  if (action === 'SendTemplatedEmail') {
    const { Template, TemplateData, ...email } = tables.SendTemplatedEmail.read(given);
    if (Template === undefined) throw invalid([{ field: 'Template', reason: 'is required' }]);
    return { action, value: toSend(email, { Template: { TemplateName: Template, TemplateData } }) };
  }
  const name = typeof action === 'string' ? action.slice(0, 100) : '';
  throw new DropInRefusal(
    'UNSUPPORTED_CALL',
    name === '' ? 'The form has no Action.' : `${name} isn’t supported by Signalpost.`,
  );
}

interface CommonMembers {
  readonly Source?: string;
  readonly Destination?: Readonly<Record<string, unknown>> | undefined;
  readonly ReplyToAddresses?: readonly string[];
  readonly Tags?: readonly unknown[];
  readonly ConfigurationSetName?: string;
}

function toSend({ Source, Destination, Tags, ...others }: CommonMembers, Content: object): unknown {
  return {
    ...others,
    FromEmailAddress: Source,
    Destination: Destination && withoutEmptyLists(Destination),
    EmailTags: Tags,
    Content,
  };
}

function withoutEmptyLists<Value>(object: Readonly<Record<string, Value>>): Record<string, Value> {
  const kept = Object.entries(object).filter(
    ([name, value]) => value !== '' || !lists.includes(name),
  );
  return Object.fromEntries(kept);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? '');
}

/** An answer of version 1. @param content XML */
export function xmlAnswer(
  status: number,
  root: string,
  content: string,
  requestId: string,
): DropInAnswer {
  return {
    status,
    contentType: 'text/xml; charset=utf-8',
    body: `<${root} xmlns="http://ses.amazonaws.com/doc/2010-12-01/">${content}</${root}>`,
    headers: ['x-amzn-requestid', requestId],
  };
}
