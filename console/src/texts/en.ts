import { audit } from './en/audit.en.ts';
import { common } from './en/common.en.ts';
import { destinations } from './en/destinations.en.ts';
import { domains } from './en/domains.en.ts';
import { editor } from './en/editor.en.ts';
import { inbox } from './en/inbox.en.ts';
import { integrations } from './en/integrations.en.ts';
import { layout } from './en/layout.en.ts';
import { lists } from './en/lists.en.ts';
import { messages } from './en/messages.en.ts';
import { overview } from './en/overview.en.ts';
import { problems } from './en/problems.en.ts';
import { reports } from './en/reports.en.ts';
import { senders } from './en/senders.en.ts';
import { setUp } from './en/set-up.en.ts';
import { settings } from './en/settings.en.ts';
import { suppressions } from './en/suppressions.en.ts';
import { team } from './en/team.en.ts';
import { templates } from './en/templates.en.ts';
import { webhooks } from './en/webhooks.en.ts';

/**
 * Every text of the console in English, a file for each area. Another language is a folder beside `en` and a file beside this
 * one, with the same keys.
 */
export const en = {
  ...common,
  ...problems,
  ...layout,
  ...setUp,
  ...overview,
  ...messages,
  ...reports,
  ...inbox,
  ...templates,
  ...editor,
  ...integrations,
  ...webhooks,
  ...senders,
  ...domains,
  ...destinations,
  ...lists,
  ...suppressions,
  ...team,
  ...audit,
  ...settings,
} as const;
