import { webhooksTexts } from '../texts/en/webhooks.en.ts';
import { addTexts } from '../texts/text.ts';

addTexts({ en: webhooksTexts });
