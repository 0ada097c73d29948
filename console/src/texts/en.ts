import { commonTexts } from './en/common.en.ts';
import { keysTexts } from './en/keys.en.ts';
import { layoutTexts } from './en/layout.en.ts';
import { listsTexts } from './en/lists.en.ts';
import { messagesTexts } from './en/messages.en.ts';
import { overviewTexts } from './en/overview.en.ts';
import { paletteTexts } from './en/palette.en.ts';
import { problemsTexts } from './en/problems.en.ts';
import { reportsTexts } from './en/reports.en.ts';
import { scheduleTexts } from './en/schedule.en.ts';
import { sendersTexts } from './en/senders.en.ts';
import { setUpTexts } from './en/set-up.en.ts';
import { suppressionsTexts } from './en/suppressions.en.ts';
import { teamTexts } from './en/team.en.ts';
import { templatesTexts } from './en/templates.en.ts';
/**
 * The English texts of the console, one file per area, except those that only the pages of an area load: see `addTexts`. To add
 * a language, add a folder next to `en` and a file next to this one with the same keys.
 */
export const en = {
  ...commonTexts,
  ...problemsTexts,
  ...layoutTexts,
  ...paletteTexts,
  ...setUpTexts,
  ...overviewTexts,
  ...messagesTexts,
  ...scheduleTexts,
  ...reportsTexts,
  ...templatesTexts,
  ...keysTexts,
  ...sendersTexts,
  ...listsTexts,
  ...suppressionsTexts,
  ...teamTexts,
} as const;
