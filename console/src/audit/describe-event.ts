import './audit-texts.ts';
import type { AuditEvent } from '../api/management.generated.ts';
import { describeValue } from '../format/describe-value.ts';
import { formatSize } from '../format/format-number.ts';
import { text, textOr } from '../texts/text.ts';

/** A changed setting with its values. */
interface RecordedChange {
  readonly name: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** Who did it, as people know them. */
export function describeActor(event: AuditEvent): string {
  const { name, email, keyName, clientId, remoteAddress, detail } = event;
  if (name) return name;
  if (email !== null) return email;
  if (keyName !== null) return text('audit.byKey', { name: keyName });
  if (detail.apiKey !== undefined) return text('audit.byRemovedKey');
  if (clientId !== null) return clientId;
  return text(remoteAddress === 'command line' ? 'audit.byCommand' : 'audit.byService');
}

/** What it concerned, in quotes: its name, or else its ID; undefined for what needs none. Messages have no name that isn't personal. */
export function thingOf(event: AuditEvent): string | undefined {
  if (event.kind.startsWith('message_')) return text('audit.aMessage');
  const name = nameOf(event);
  return name && `“${name}”`;
}

function nameOf({ detail }: AuditEvent): string | undefined {
  if (detail.id === '*') return text('audit.allDomains');
  if (typeof detail.name === 'string' && detail.name !== '') return detail.name;
  return typeof detail.id === 'string' ? detail.id : undefined;
}

/** The rest of the sentence, with `{what}` where the thing goes. */
export function predicateOf({ kind, detail }: AuditEvent): string {
  const special = textOr(`audit.did.${kind}`, '');
  if (special !== '') return fillVersion(special, detail.version);
  const [, thing = '', action = ''] = /^(.+)_(created|changed|removed)$/.exec(kind) ?? [];
  const name = textOr(`audit.what.${thing}`, '');
  if (name === '') return text('audit.did', { kind: kind.replaceAll('_', ' ') });
  return `${textOr(`audit.${action}`, action)} ${name} {what}`;
}

function fillVersion(pattern: string, version: unknown): string {
  return pattern.replace('{version}', String(version ?? ''));
}

/** Settings that changed, with their values. */
export function changesOf({ detail }: AuditEvent): readonly RecordedChange[] {
  return Array.isArray(detail.changes) ? (detail.changes as RecordedChange[]) : [];
}

/** Members that the sentence and the changes already say. */
const said = new Set(['id', 'name', 'apiKey', 'changes', 'version', 'replacedBy']);

/** Everything else that was recorded. */
export function otherDetails(event: AuditEvent): string[] {
  const shown = new Set(changesOf(event).map(({ name }) => name));
  return Object.entries(event.detail).flatMap(([name, value]) => {
    // Nothing of a kind, such as no overlap of two secrets, needs no word.
    if (said.has(name) || value === 0) return [];
    if (name === 'size') return [text('audit.fileSize', { size: formatSize(Number(value)) })];
    if (name !== 'changed' || typeof value !== 'string')
      return [`${textOr(`member.${name}`, name)}: ${describeValue(value)}`];
    const others = value.split(', ').filter((one) => !shown.has(one));
    const named = others.map((one) => textOr(`member.${one}`, one)).join(', ');
    return others.length === 0 ? [] : [text('audit.alsoChanged', { names: named })];
  });
}
