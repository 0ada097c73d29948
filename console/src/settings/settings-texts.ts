import { settingsTexts } from '../texts/en/settings.en.ts';
import { addTexts } from '../texts/text.ts';

addTexts({ en: settingsTexts });
