import { inboxTexts } from '../texts/en/inbox.en.ts';
import { addTexts } from '../texts/text.ts';

addTexts({ en: inboxTexts });
