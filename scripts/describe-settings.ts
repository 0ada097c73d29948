import type { Setting } from '../src/operating/config/setting.ts';
import {
  type SettingName,
  secretNames,
  settings,
  settingTopics,
} from '../src/operating/config/settings-table.ts';
import { markdownTable } from './markdown-table.ts';

/** The most common settings, shown in the README. */
const common: readonly SettingName[] = [
  'PORT',
  'PUBLIC_URL',
  'DATA_DIR',
  'DATABASE_URL',
  'SMTP_URL',
  'SYSTEM_MAIL_FROM',
  'TRUST_PROXY',
];

/** The tables of settings: all by topic, and the common ones for the README. */
export function describeSettings(): Readonly<Record<'settings' | 'common' | 'secrets', string>> {
  const sections = Object.entries(settingTopics).map(
    ([topic, ofTopic]) => `## ${topic}\n\n${tableOf(Object.entries(ofTopic))}`,
  );
  return {
    settings: sections.join('\n\n'),
    common: tableOf(common.map((name) => [name, settings[name]])),
    secrets: secretNames.map((name) => `\`${name}\``).join(', '),
  };
}

function tableOf(entries: readonly (readonly [string, Setting<unknown>])[]): string {
  const rows: string[][] = [];
  for (const [name, { default: text, shown, meaning }] of entries) {
    const last = rows.at(-1);
    if (meaning !== undefined) rows.push([`\`${name}\``, shown ?? (text || '(none)'), meaning]);
    else if (last !== undefined) last[0] += `, \`${name}\``;
  }
  return markdownTable(['setting', 'default', 'meaning'], rows);
}
